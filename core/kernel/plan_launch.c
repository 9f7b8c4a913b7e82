/* Makes one launch of a plan: evaluates its grid, block, shared memory and cluster, and compares them with
 * the device's limits.  A launch that a driver would refuse is thus a finding with a line.  Limits: CUDA C++
 * Programming Guide, 'Compute Capabilities'.  One thread. */
#include "kernel/plan.h"
#include "kernel/ptx.h"

#include <stdlib.h>
#include <string.h>

static const char axes[] = "xyz";

/* Evaluates count of 1 to 3 dimensions into out; the others become 1. */
static bool dimensions(planner_t *planner, rkb_expression_t *const *list, uint32_t count, const char *what,
                       const char *reason, const int64_t *limits, uint32_t out[3]) {
   for (uint32_t i = 0; i < 3; i++) {
      int64_t value = 1;
      if (i < count && !planner_integer(planner, list[i], &value))
         return false;
      if (value < 0 || value > limits[i]) {
         planner_find(planner, reason, rkb_expression_place(list[i]), "%s.%c is %lld; %s allows 0 to %lld",
                      what, axes[i], (long long)value, planner->device->name, (long long)limits[i]);
         return false;
      }
      out[i] = (uint32_t)value;
   }
   return true;
}

static bool compiled_for(const planner_t *planner, const rkb_built_kernel_t *kernel, const char *directive,
                         uint32_t numbers[3]) {
   return ptx_entry_numbers(planner->build->ptx, planner->build->ptx_bytes, kernel->entry, directive,
                            numbers);
}

/* The threads that the kernel is compiled for are those of the launch.  Only a text that says such numbers is looked at: plans are made often. */
static bool check_compiled_block(planner_t *planner, const manifest_launch_t *launch,
                                 const rkb_built_kernel_t *kernel, const rkb_plan_launch_t *out) {
   const uint32_t *own = out->block;
   uint32_t need[3];
   if (!planner->manifest->fixes_shapes || !compiled_for(planner, kernel, ".reqntid", need) ||
       (need[0] == own[0] && need[1] == own[1] && need[2] == own[2]))
      return true;
   planner_find(
      planner, "plan.block", rkb_expression_place(launch->block[0]),
      "'%.64s' is compiled for blocks of %u x %u x %u threads (__block_size__), and this launch has %u x %u x %u: "
      "block must say the same",
      launch->kernel, need[0], need[1], need[2], own[0], own[1], own[2]);
   return false;
}

static bool check_block(planner_t *planner, const manifest_launch_t *launch, const rkb_built_kernel_t *kernel,
                        const rkb_plan_launch_t *out) {
   const rkb_device_t *device = planner->device;
   const int64_t threads = (int64_t)out->block[0] * out->block[1] * out->block[2];
   const int64_t unit =
      device->register_unit ? device->register_unit : 256; /* registers are given to whole warps */
   const int64_t warps = (threads + device->warp_size - 1) / device->warp_size;
   const int64_t per_warp = (kernel->registers * device->warp_size + unit - 1) / unit * unit;
   rkb_place_t place = rkb_expression_place(launch->block[0]);
   if (threads == 0)
      planner_find(planner, "plan.block", place, "this block has no threads");
   else if (threads > device->threads_per_block)
      planner_find(planner, "plan.block", place, "this block has %lld threads; %s allows %lld",
                   (long long)threads, device->name, (long long)device->threads_per_block);
   else if (kernel->max_threads && threads > kernel->max_threads)
      planner_find(planner, "plan.block", place,
                   "this block has %lld threads; the kernel's launch bounds allow %u", (long long)threads,
                   kernel->max_threads);
   else if (warps * per_warp > device->registers_per_multiprocessor)
      planner_find(planner, "plan.registers", place,
                   "%lld threads of %u registers need %lld; a multiprocessor of %s has %lld",
                   (long long)threads, kernel->registers, (long long)(warps * per_warp), device->name,
                   (long long)device->registers_per_multiprocessor);
   return !planner->finding->reason[0];
}

static bool check_shared(planner_t *planner, const manifest_launch_t *launch,
                         const rkb_built_kernel_t *kernel, rkb_plan_launch_t *out) {
   const rkb_device_t *device = planner->device;
   int64_t bytes = 0;
   if (launch->shared && !planner_integer(planner, launch->shared, &bytes))
      return false;
   if (bytes < 0 || bytes > device->shared_per_block_optin - (int64_t)kernel->shared_bytes) {
      planner_find(
         planner, "plan.shared", launch->shared ? rkb_expression_place(launch->shared) : launch->place,
         "%lld bytes of shared memory beside %u static ones; %s allows %lld a block", (long long)bytes,
         kernel->shared_bytes, device->name, (long long)device->shared_per_block_optin);
      return false;
   }
   out->dynamic_shared = (uint32_t)bytes;
   return true;
}

/* The blocks of a cluster that the kernel is compiled for are those of the launch, and no more than it allows. */
static bool check_compiled_cluster(planner_t *planner, const manifest_launch_t *launch,
                                   const rkb_built_kernel_t *kernel, const rkb_plan_launch_t *out) {
   const uint32_t *own = out->cluster, blocks = own[0] * own[1] * own[2];
   const rkb_place_t place = launch->cluster_count ? rkb_expression_place(launch->cluster[0]) : launch->place;
   uint32_t need[3];
   if (planner->manifest->fixes_shapes && compiled_for(planner, kernel, ".reqnctapercluster", need) &&
       (need[0] != own[0] || need[1] != own[1] || need[2] != own[2]))
      planner_find(
         planner, "plan.cluster", place,
         "'%.64s' is compiled for clusters of %u x %u x %u blocks (__cluster_dims__), and this launch has %u x %u x %u: "
         "cluster must say the same",
         launch->kernel, need[0], need[1], need[2], own[0], own[1], own[2]);
   else if (blocks > 1 && compiled_for(planner, kernel, ".maxclusterrank", need) && blocks > need[0])
      planner_find(planner, "plan.cluster", place,
                   "a cluster of %u blocks; the launch bounds of '%.64s' allow %u", blocks, launch->kernel,
                   need[0]);
   return !planner->finding->reason[0];
}

static bool check_cluster(planner_t *planner, const manifest_launch_t *launch,
                          const rkb_built_kernel_t *kernel, rkb_plan_launch_t *out) {
   const int64_t most = planner->device->max_cluster > 0 ? planner->device->max_cluster : 1;
   const int64_t limits[3] = {most, most, most};
   int64_t blocks;
   rkb_place_t place;
   out->cluster[0] = out->cluster[1] = out->cluster[2] = 1;
   if (!launch->cluster_count)
      return check_compiled_cluster(planner, launch, kernel, out);
   if (!dimensions(planner, launch->cluster, launch->cluster_count, "cluster", "plan.cluster", limits,
                   out->cluster))
      return false;
   place = rkb_expression_place(launch->cluster[0]);
   blocks = (int64_t)out->cluster[0] * out->cluster[1] * out->cluster[2];
   if (blocks < 1 || blocks > most) {
      planner_find(planner, "plan.cluster", place, "a cluster of %lld blocks; %s allows 1 to %lld",
                   (long long)blocks, planner->device->name, (long long)most);
      return false;
   }
   for (uint32_t i = 0; i < 3; i++)
      if (out->grid[i] % out->cluster[i])
         planner_find(planner, "plan.cluster", place, "grid.%c is %u and no multiple of cluster.%c, %u",
                      axes[i], out->grid[i], axes[i], out->cluster[i]);
   return !planner->finding->reason[0] && check_compiled_cluster(planner, launch, kernel, out);
}

/* All blocks of a cooperative launch must be resident at once. */
static bool check_cooperative(planner_t *planner, const manifest_launch_t *launch,
                              const rkb_built_kernel_t *kernel, const rkb_plan_launch_t *out) {
   const double blocks = (double)out->grid[0] * out->grid[1] * out->grid[2];
   rkb_occupancy_t occupancy;
   if (!launch->cooperative)
      return true;
   occupancy = rkb_occupancy(planner->device, kernel, out->block[0] * out->block[1] * out->block[2],
                             out->dynamic_shared);
   if (blocks > (double)occupancy.blocks * (double)planner->device->multiprocessors) {
      planner_find(planner, "plan.cooperative", rkb_expression_place(launch->grid[0]),
                   "a cooperative launch of %.0f blocks; %s holds %lld at once (%u on each multiprocessor, "
                   "limited by %s)",
                   blocks, planner->device->name,
                   (long long)occupancy.blocks * (long long)planner->device->multiprocessors,
                   occupancy.blocks, occupancy.limited_by);
      return false;
   }
   return true;
}

/* The bytes of a __constant__ variable, from `.const .align 4 .b8 name[256]` in the PTX; 0: no such variable.
 */
static uint64_t constant_bytes(const rkb_build_t *build, const char *symbol) {
   const char *at = build->ptx, *end = build->ptx + build->ptx_bytes;
   const size_t length = strlen(symbol);
   while (at < end) {
      const char *line = memmem(at, (size_t)(end - at), ".const ", 7), *stop, *name;
      if (!line)
         return 0;
      stop = memchr(line, '\n', (size_t)(end - line));
      stop = stop ? stop : end;
      name = memmem(line, (size_t)(stop - line), symbol, length);
      if (name && name[-1] == ' ' && (name[length] == '[' || name[length] == ';' || name[length] == ' ')) {
         uint64_t elements = name[length] == '[' ? strtoull(name + length + 1, NULL, 10) : 1;
         uint64_t bytes = memmem(line, (size_t)(name - line), "64 ", 3)   ? 8
                          : memmem(line, (size_t)(name - line), "32 ", 3) ? 4
                          : memmem(line, (size_t)(name - line), "16 ", 3) ? 2
                                                                          : 1;
         return elements * bytes;
      }
      at = stop;
   }
   return 0;
}

static bool add_constants(planner_t *planner, const manifest_launch_t *launch) {
   for (uint32_t i = 0; i < launch->constant_count; i++) {
      const manifest_constant_t *constant = &launch->constants[i];
      const uint32_t buffer = planner_buffer(planner, constant->tensor);
      const uint64_t room = constant_bytes(planner->build, constant->symbol);
      if (buffer == UINT32_MAX ||
          (planner->buffers[buffer].role != RKB_IN && planner->buffers[buffer].role != RKB_INOUT))
         planner_find(planner, "plan.constant", constant->place, "'%.64s' is not an input of this task",
                      constant->tensor);
      else if (!room)
         planner_find(planner, "plan.constant", constant->place,
                      "the build has no __constant__ variable '%.64s'", constant->symbol);
      else if (planner->buffers[buffer].bytes > room)
         planner_find(planner, "plan.constant", constant->place,
                      "'%.64s' has %llu bytes and '%.64s' holds %llu", constant->tensor,
                      (unsigned long long)planner->buffers[buffer].bytes, constant->symbol,
                      (unsigned long long)room);
      if (planner->finding->reason[0])
         return false;
      planner->constants[planner->constant_count++] = (rkb_plan_constant_t){
         .symbol = rkb_arena_text(planner->arena, constant->symbol, strlen(constant->symbol)),
         .buffer = buffer,
         .bytes = planner->buffers[buffer].bytes};
   }
   return true;
}

static const rkb_built_kernel_t *find_kernel(planner_t *planner, const manifest_launch_t *launch,
                                             uint32_t *index) {
   char expression[512];
   if (manifest_kernel_expression(planner->manifest, launch, planner->tune, expression, sizeof expression))
      for (*index = 0; *index < planner->build->kernel_count; (*index)++)
         if (planner->build->kernels[*index].entry[0] && /* it was compiled */
             strcmp(planner->build->kernels[*index].expression, expression) == 0)
            return &planner->build->kernels[*index];
   planner_find(planner, "plan.kernel", launch->kernel_place,
                "the build has no kernel '%.64s': it belongs to another text or assignment", launch->kernel);
   return NULL;
}

bool planner_launch(planner_t *planner, const manifest_launch_t *launch) {
   rkb_plan_launch_t out = {.cooperative = launch->cooperative,
                            .dependent = launch->dependent && planner->launch_count > 0,
                            .line = launch->place.line};
   const rkb_built_kernel_t *kernel = find_kernel(planner, launch, &out.kernel);
   if (!kernel ||
       !dimensions(planner, launch->grid, launch->grid_count, "grid", "plan.grid", planner->device->max_grid,
                   out.grid) ||
       !dimensions(planner, launch->block, launch->block_count, "block", "plan.block",
                   planner->device->max_block, out.block) ||
       !check_compiled_block(planner, launch, kernel, &out) || !check_block(planner, launch, kernel, &out))
      return false;
   if (!out.grid[0] || !out.grid[1] || !out.grid[2])
      return true; /* an empty grid: the case has no work for this launch */
   if (!check_shared(planner, launch, kernel, &out) || !check_cluster(planner, launch, kernel, &out) ||
       !check_cooperative(planner, launch, kernel, &out) ||
       !planner_arguments(planner, launch, kernel, &out) || !add_constants(planner, launch))
      return false;
   out.expression = rkb_arena_text(planner->arena, launch->kernel, strlen(launch->kernel));
   out.entry = rkb_arena_text(planner->arena, kernel->entry, strlen(kernel->entry));
   planner->launches[planner->launch_count++] = out;
   return true;
}
