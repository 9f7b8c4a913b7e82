/* Writes the text of `rkb build`: the kernels that were built, and each case's plan on the target.  Owns nothing; any thread. */
#include "kernel/build_report.h"
#include "base/units.h"

#include <inttypes.h>
#include <string.h>

static void write_kernel(const rkb_built_kernel_t *kernel, rkb_text_t *out) {
   static const char *const kinds[] = {
      [RKB_PARAMETER_NUMBER] = "", [RKB_PARAMETER_POINTER] = " pointer", [RKB_PARAMETER_UNKNOWN] = " unused"};
   rkb_text_format(out, "  %s\n    entry      %s\n", kernel->expression, kernel->entry);
   rkb_text_format(out, "    registers  %u a thread", kernel->registers);
   if (kernel->spill_store_bytes || kernel->spill_load_bytes)
      rkb_text_format(out, ", spilled: %u bytes stored, %u loaded", kernel->spill_store_bytes,
                      kernel->spill_load_bytes);
   rkb_text_format(out, "\n    memory     %u bytes shared, %u local a thread, %u constant\n",
                   kernel->shared_bytes, kernel->local_bytes, kernel->constant_bytes);
   if (kernel->max_threads)
      rkb_text_format(out, "    bounds     at most %u threads a block\n", kernel->max_threads);
   rkb_text_add(out, "    parameters ");
   for (uint32_t i = 0; i < kernel->parameter_count; i++)
      rkb_text_format(out, "%s%s%s", i ? ", " : "", kernel->parameters[i].ptx_type,
                      kernel->parameters[i].is_pointer < 3 ? kinds[kernel->parameters[i].is_pointer] : "");
   rkb_text_add(out, kernel->parameter_count ? "\n" : "none\n");
}

void rkb_build_report(const rkb_build_t *build, const rkb_device_t *device, rkb_text_t *out) {
   char ptx[32], cubin[32];
   rkb_format_bytes(build->ptx_bytes, ptx, sizeof ptx);
   rkb_format_bytes(build->cubin_bytes, cubin, sizeof cubin);
   rkb_text_format(out, "built for %s (%s) with CUDA %s%s\n", device->name, device->architecture,
                   build->toolkit, build->debug ? ", -G" : "");
   rkb_text_format(out, "  PTX        %s, %s\n", ptx, build->ptx_hash);
   if (build->cubin_bytes)
      rkb_text_format(out, "  cubin      %s, %s\n", cubin, build->cubin_hash);
   rkb_text_format(out, "kernels\n");
   for (uint32_t i = 0; i < build->kernel_count; i++)
      write_kernel(&build->kernels[i], out);
   if (build->log[0])
      rkb_text_format(out, "warnings\n%s", build->log);
}

static void write_buffer(const rkb_plan_buffer_t *buffer, rkb_text_t *out) {
   static const char *const roles[] = {"scratch", "in", "out", "inout"};
   char bytes[32];
   rkb_format_bytes(buffer->bytes, bytes, sizeof bytes);
   rkb_text_format(out, "  %-8s %s, %s", buffer->role < 4 ? roles[buffer->role] : "?", buffer->name, bytes);
   if (buffer->fill == RKB_FILL_VALUE)
      rkb_text_format(out, ", filled with %.9g", buffer->fill_value);
   rkb_text_add(out, "\n");
}

static void write_three(const char *what, const uint32_t three[3], rkb_text_t *out) {
   rkb_text_format(out, "  %s %u", what, three[0]);
   if (three[1] > 1 || three[2] > 1)
      rkb_text_format(out, " x %u", three[1]);
   if (three[2] > 1)
      rkb_text_format(out, " x %u", three[2]);
}

static void write_argument(const rkb_plan_t *plan, const rkb_built_kernel_t *kernel, uint32_t index,
                           const rkb_plan_argument_t *argument, rkb_text_t *out) {
   const char *type = index < kernel->parameter_count ? kernel->parameters[index].ptx_type : "";
   if (argument->buffer != UINT32_MAX) {
      rkb_text_add(out, plan->buffers[argument->buffer].name);
      if (argument->value)
         rkb_text_format(out, " + %" PRIu64 " bytes", argument->value);
   } else if (strcmp(type, "f32") == 0) {
      float value;
      memcpy(&value, &argument->value, sizeof value);
      rkb_text_format(out, "%.9g", (double)value);
   } else if (strcmp(type, "f64") == 0) {
      double value;
      memcpy(&value, &argument->value, sizeof value);
      rkb_text_format(out, "%.17g", value);
   } else {
      const uint32_t unused = 64 - 8 * argument->bytes;
      rkb_text_format(out, "%" PRId64, (int64_t)(argument->value << unused) >> unused);
   }
}

void rkb_plan_report(const rkb_plan_t *plan, const rkb_build_t *build, const rkb_device_t *device,
                     const char *case_name, rkb_text_t *out) {
   rkb_text_format(out, "case %s\n", case_name);
   for (uint32_t i = 0; i < plan->buffer_count; i++)
      write_buffer(&plan->buffers[i], out);
   for (uint32_t i = 0; i < plan->constant_count; i++)
      rkb_text_format(out, "  constant %s from %s\n", plan->constants[i].symbol,
                      plan->buffers[plan->constants[i].buffer].name);
   for (uint32_t i = 0; i < plan->launch_count; i++) {
      const rkb_plan_launch_t *launch = &plan->launches[i];
      const rkb_built_kernel_t *kernel = &build->kernels[launch->kernel];
      const uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
      const rkb_occupancy_t occupancy = rkb_occupancy(device, kernel, threads, launch->dynamic_shared);
      rkb_text_format(out, "  launch   %s(", kernel->expression);
      for (uint32_t k = 0; k < launch->argument_count; k++) {
         rkb_text_add(out, k ? ", " : "");
         write_argument(plan, kernel, k, &launch->arguments[k], out);
      }
      rkb_text_add(out, ")\n         ");
      write_three("grid", launch->grid, out);
      write_three("block", launch->block, out);
      if (launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 1)
         write_three("cluster", launch->cluster, out);
      if (launch->dynamic_shared)
         rkb_text_format(out, "  shared %u bytes", launch->dynamic_shared);
      rkb_text_format(out, "%s%s\n", launch->cooperative ? "  cooperative" : "",
                      launch->dependent ? "  dependent" : "");
      rkb_text_format(out,
                      "           occupancy %.0f %%: %u blocks, %u warps a multiprocessor, limited by %s\n",
                      100 * occupancy.share, occupancy.blocks, occupancy.warps, occupancy.limited_by);
   }
}

void rkb_finding_report(const rkb_finding_t *finding, const char *file, rkb_text_t *out) {
   if (finding->line)
      rkb_text_format(out, "%s:%u:%u: ", file, finding->line, finding->column);
   else
      rkb_text_format(out, "%s: ", file);
   rkb_text_format(out, "%s: %s\n", finding->reason, finding->message);
}

void rkb_build_cost_report(const rkb_build_cost_t *cost, rkb_text_t *out) {
   char time[32], memory[32];
   if (!cost->cpu_ns) {
      rkb_text_add(out, "a limit ended the compile: not reproducible on every machine");
      return;
   }
   rkb_format_duration(cost->cpu_ns, time, sizeof time);
   rkb_format_bytes(cost->memory_bytes, memory, sizeof memory);
   rkb_text_format(out,
                   "compiling took %s of processor time and %s of memory, within 20 %% of a limit: not "
                   "reproducible on every machine",
                   time, memory);
}
