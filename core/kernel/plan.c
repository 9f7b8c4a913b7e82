/* Makes the launch plan of a candidate for one case: buffers, fills and launches with every expression
 * evaluated and checked.  Arithmetic faults, sizes that do not fit and names that do not exist are findings
 * against the candidate.  One thread per plan. */
#include "kernel/plan.h"
#include "kernel/candidate_finding.h"

#include <string.h>

enum { SCRATCH_ALIGNMENT = 256 };

/* The most if()s of a let, or of one dim of a scratch buffer, whose outcomes a plan remembers for borrowing. */
enum { MOST_CHOICES = 16 };

/* Multiprocessors of the device for which borrowed launches are planned.  A persistent launch has as many blocks as multiprocessors.  With few of them, a
 * block computes several tiles one after the other at a small shape too. */
enum { FEW_MULTIPROCESSORS = 3 };

/* A tune parameter or let with the name of a dim would have different values in the kernel and in the plan, so it is refused.  A
 * let with the task's own value is allowed. */
static bool check_names(planner_t *planner) {
   const manifest_t *manifest = planner->manifest;
   rkb_value_t theirs;
   for (uint32_t i = 0; i < manifest->public.tune_count; i++) {
      const rkb_tune_parameter_t *tune = &manifest->public.tune[i];
      if (planner->lookup(planner->argument, tune->name, &theirs) ||
          planner_buffer(planner, tune->name) != UINT32_MAX)
         planner_find(planner, "plan.name_collision", (rkb_place_t){NULL, tune->line, tune->column},
                      "tune parameter '%s' has the name of something in the task", tune->name);
   }
   for (uint32_t i = 0; i < manifest->let_count; i++) {
      const manifest_named_t *let = &manifest->lets[i];
      const rkb_value_t *ours = &planner->lets[i];
      if (planner_buffer(planner, let->name) != UINT32_MAX)
         planner_find(planner, "plan.name_collision", let->place,
                      "'%s' is a tensor or scratch buffer already", let->name);
      if (!planner->lookup(planner->argument, let->name, &theirs))
         continue;
      if (theirs.is_real != ours->is_real ||
          (ours->is_real ? theirs.real != ours->real : theirs.integer != ours->integer))
         planner_find(planner, "plan.name_collision", let->place, "'%s' has another value in the task",
                      let->name);
   }
   return !planner->finding->reason[0];
}

/* Whether the device can make the fill; its fills repeat one word. */
static bool fill_fits(planner_t *planner, const rkb_plan_buffer_t *buffer, rkb_place_t place) {
   if ((buffer->dtype != RKB_E4M3 && buffer->dtype != RKB_E5M2) || buffer->fill_value == 0)
      return true;
   planner_find(planner, "plan.fill", place,
                "'%.64s' holds 8-bit floats, which can be filled with zero alone", buffer->name);
   return false;
}

static bool evaluate_lets(planner_t *planner) {
   const manifest_t *manifest = planner->manifest;
   planner->lets = rkb_arena_array(planner->arena, manifest->let_count + 1, sizeof *planner->lets);
   for (uint32_t i = 0; i < manifest->let_count; i++) {
      if (!planner_value(planner, manifest->lets[i].value, &planner->lets[i]))
         return false;
      planner->lets_known = i + 1;
   }
   return true;
}

/* Returns where to note the outcomes of the if()s in the next let or scratch dim.  *from: if launches are borrowed, the outcomes in the lender's plan. */
static rkb_choices_t *next_choices(planner_t *planner, const rkb_expression_t *expression,
                                   const rkb_choices_t **from) {
   const plan_choices_t *lent = planner->lender ? plan_choices(planner->lender) : NULL;
   const uint32_t number = planner->choices.count++;
   rkb_choices_t *to = &planner->choices.expressions[number];
   if (strstr(rkb_expression_text(expression), "if")) {
      to->room = MOST_CHOICES;
      to->list = rkb_arena_array(planner->arena, to->room, sizeof *to->list);
   }
   *from = lent && number < lent->count ? &lent->expressions[number] : NULL;
   return to;
}

static bool is_fine(planner_t *planner, const rkb_expression_t *expression, enum rkb_fault fault,
                    const char *message) {
   if (fault != RKB_FAULT_NONE)
      planner_find(planner, "plan.expression", rkb_expression_place(expression), "%s", message);
   return fault == RKB_FAULT_NONE;
}

/* Evaluates the lets for the sizes of scratch buffers.  Launches have lets of their own with the case's sizes, because a vector's width may depend on
 * these. */
static bool choose_lets(planner_t *planner) {
   char message[256];
   for (planner->lets_known = 0; planner->lets_known < planner->manifest->let_count; planner->lets_known++) {
      const rkb_expression_t *let = planner->manifest->lets[planner->lets_known].value;
      const rkb_choices_t *from;
      rkb_choices_t *to = next_choices(planner, let, &from);
      if (!is_fine(planner, let,
                   rkb_expression_chosen(let, planner_name, planner, from, to,
                                         &planner->lets[planner->lets_known], message, sizeof message),
                   message))
         return false;
   }
   return true;
}

/* Evaluates a dim of a scratch buffer.  If launches are borrowed, it is evaluated twice, and the larger value counts: once with the outcomes that its
 * if()s, and those of lets, had in the lender's plan, so that the buffer has the parts that these launches write; and once with the outcomes at this case,
 * because the launches' own expressions are evaluated at this case. */
static bool scratch_dim(planner_t *planner, const rkb_expression_t *dim, rkb_value_t *lent_lets,
                        int64_t *size) {
   char message[256];
   const rkb_choices_t *from;
   rkb_choices_t *to = next_choices(planner, dim, &from);
   rkb_value_t *own_lets = planner->lets;
   int64_t own;
   planner->lets = lent_lets;
   const enum rkb_fault fault =
      rkb_expression_integer_chosen(dim, planner_name, planner, from, to, size, message, sizeof message);
   planner->lets = own_lets;
   if (!is_fine(planner, dim, fault, message))
      return false;
   if (planner->lender &&
       rkb_expression_integer(dim, planner_name, planner, &own, message, sizeof message) == RKB_FAULT_NONE &&
       own > *size)
      *size = own;
   return true;
}

static bool add_scratch(planner_t *planner, const manifest_scratch_t *scratch, rkb_value_t *lent_lets) {
   rkb_plan_buffer_t *buffer = &planner->buffers[planner->buffer_count];
   uint64_t elements = 1;
   rkb_value_t unused;
   if (planner_buffer(planner, scratch->name) != UINT32_MAX ||
       planner_name(planner, scratch->name, &unused)) {
      planner_find(planner, "plan.name_collision", scratch->place,
                   "scratch buffer '%s' has the name of something else", scratch->name);
      return false;
   }
   for (uint32_t i = 0; i < scratch->rank; i++) {
      int64_t size;
      if (!scratch_dim(planner, scratch->shape[i], lent_lets, &size))
         return false;
      if (size < 0 || __builtin_mul_overflow(elements, (uint64_t)size, &elements)) {
         planner_find(planner, "plan.buffer", rkb_expression_place(scratch->shape[i]),
                      "dimension %u of scratch buffer '%s' is %lld", i, scratch->name, (long long)size);
         return false;
      }
   }
   buffer->name = rkb_arena_text(planner->arena, scratch->name, strlen(scratch->name));
   buffer->dtype = scratch->dtype;
   buffer->tensor = UINT32_MAX;
   buffer->alignment = SCRATCH_ALIGNMENT;
   buffer->elements = elements;
   buffer->fill = scratch->init.declared ? RKB_FILL_VALUE : RKB_FILL_NONE;
   buffer->fill_value = scratch->init.value;
   if (__builtin_mul_overflow(elements, (uint64_t)planner_dtype_bytes(scratch->dtype), &buffer->bytes)) {
      planner_find(planner, "plan.buffer", scratch->place, "scratch buffer '%s' is larger than 2^64 bytes",
                   scratch->name);
      return false;
   }
   planner->buffer_count++;
   rkb_name_table_add(&planner->buffer_names, buffer->name);
   return fill_fits(planner, buffer, scratch->place);
}

static bool add_fills(planner_t *planner) {
   for (uint32_t i = 0; i < planner->manifest->fill_count; i++) {
      const manifest_output_fill_t *fill = &planner->manifest->fills[i];
      uint32_t index = planner_buffer(planner, fill->name);
      if (index == UINT32_MAX || planner->buffers[index].role != RKB_OUT) {
         planner_find(
            planner, "plan.fill", fill->place,
            "'%.64s' is not an output of this task; fill: names outputs, scratch takes init:", fill->name);
         return false;
      }
      planner->buffers[index].fill = fill->fill.declared ? RKB_FILL_VALUE : RKB_FILL_NONE;
      planner->buffers[index].fill_value = fill->fill.value;
      if (!fill_fits(planner, &planner->buffers[index], fill->place))
         return false;
   }
   return true;
}

/* The buffers of inputs, outputs and scratch together must fit into the device's memory. */
static bool check_memory(planner_t *planner) {
   double total = 0;
   for (uint32_t i = 0; i < planner->buffer_count; i++)
      total += (double)planner->buffers[i].bytes;
   if (total > planner->device->memory_bytes)
      planner_find(planner, "plan.memory", (rkb_place_t){NULL, 0, 0},
                   "its buffers need %.3g bytes and %s has %.3g", total, planner->device->name,
                   planner->device->memory_bytes);
   return total <= planner->device->memory_bytes;
}

static bool make_buffers(planner_t *planner) {
   const rkb_case_t *the_case = planner->the_case;
   const uint32_t most = the_case->tensor_count + planner->manifest->scratch_count;
   uint32_t choices = planner->manifest->let_count;
   planner->buffers = rkb_arena_array(planner->arena, most + 1, sizeof *planner->buffers);
   rkb_name_table_make(&planner->buffer_names, planner->arena, most);
   for (uint32_t i = 0; i < the_case->tensor_count; i++) {
      const rkb_tensor_t *tensor = &the_case->tensors[i];
      planner->buffers[planner->buffer_count++] =
         (rkb_plan_buffer_t){.name = rkb_arena_text(planner->arena, tensor->name, strlen(tensor->name)),
                             .role = tensor->role,
                             .dtype = tensor->dtype,
                             .tensor = i,
                             .alignment = tensor->alignment,
                             .bytes = tensor->bytes,
                             .elements = tensor->elements};
      rkb_name_table_add(&planner->buffer_names, tensor->name);
   }
   if (!evaluate_lets(planner) || !check_names(planner))
      return false;
   for (uint32_t i = 0; i < planner->manifest->scratch_count; i++)
      choices += planner->manifest->scratch[i].rank;
   planner->choices.expressions =
      rkb_arena_array(planner->arena, choices + 1, sizeof *planner->choices.expressions);
   rkb_value_t *const own_lets = planner->lets;
   rkb_value_t *const lent_lets =
      rkb_arena_array(planner->arena, planner->manifest->let_count + 1, sizeof *lent_lets);
   planner->lets = lent_lets;
   if (!choose_lets(planner))
      return false;
   planner->lets = own_lets;
   for (uint32_t i = 0; i < planner->manifest->scratch_count; i++)
      if (!add_scratch(planner, &planner->manifest->scratch[i], lent_lets))
         return false;
   return add_fills(planner) && check_memory(planner);
}

static void make_room(planner_t *planner) {
   const manifest_t *manifest = planner->manifest;
   size_t constants = 0;
   planner->launches =
      rkb_arena_array(planner->arena, manifest->public.launch_count + 1, sizeof *planner->launches);
   for (uint32_t i = 0; i < manifest->public.launch_count; i++)
      constants += manifest->launches[i].constant_count;
   planner->constants = rkb_arena_array(planner->arena, constants + 1, sizeof *planner->constants);
}

/* Whether the lender's plan has this launch of the manifest; its line identifies it. */
static bool is_lent(const planner_t *planner, const manifest_launch_t *launch) {
   bool lent = false;
   for (uint32_t n = 0; n < planner->lender->launch_count; n++)
      lent |= planner->lender->launches[n].line == launch->place.line;
   return lent;
}

static bool make_lent_launches(planner_t *planner) {
   const manifest_t *manifest = planner->manifest;
   for (uint32_t i = 0; i < manifest->public.launch_count; i++) {
      const manifest_launch_t *launch = &manifest->launches[i];
      if (!is_lent(planner, launch))
         continue;
      if (i + 1 < manifest->public.launch_count && launch[1].place.line == launch->place.line) {
         planner_find(planner, "plan.no_launch", launch->place,
                      "two launches on one line cannot be told apart");
         return false;
      }
      if (!planner_launch(planner, launch))
         return false;
   }
   return true;
}

/* An entry runs when its `when` holds.  An entry with `else` runs only if no entry that it is joined to has run. */
static bool make_launches(planner_t *planner) {
   const manifest_t *manifest = planner->manifest;
   bool taken = false, any = false;
   make_room(planner);
   if (planner->lender)
      return make_lent_launches(planner);
   for (uint32_t i = 0; i < manifest->public.launch_count; i++) {
      const manifest_launch_t *launch = &manifest->launches[i];
      int64_t holds = 1;
      if (!launch->is_else)
         taken = false;
      if (taken)
         continue;
      if (launch->when && !planner_integer(planner, launch->when, &holds))
         return false;
      if (!holds)
         continue;
      taken = any = true;
      if (planner->launched)
         planner->launched[i] = true;
      else if (!planner_launch(planner, launch))
         return false;
   }
   if (!any)
      planner_find(planner, "plan.no_launch", manifest->launches[0].place,
                   "no launch runs for case %s: no when: holds", planner->the_case->name);
   return any;
}

static int make(const rkb_manifest_t *manifest, const char *tune_json, const rkb_build_t *build,
                const rkb_device_t *device, const rkb_case_t *the_case, rkb_lookup_t lookup, void *argument,
                const rkb_plan_t *lender, rkb_decided_t decided, void *decided_argument, rkb_plan_t **plan,
                rkb_finding_t *finding, rkb_error_t *err) {
   int64_t tune[RKB_MANIFEST_MAX_ENTRIES];
   rkb_device_t few = *device;
   if (few.multiprocessors > FEW_MULTIPROCESSORS)
      few.multiprocessors = FEW_MULTIPROCESSORS;
   planner_t planner = {.manifest = (const manifest_t *)manifest,
                        .build = build,
                        .device = device,
                        .named = lender ? &few : device,
                        .the_case = the_case,
                        .lookup = lookup,
                        .argument = argument,
                        .lender = lender,
                        .decided = decided,
                        .decided_argument = decided_argument,
                        .tune = tune,
                        .finding = finding};
   int status;
   *plan = NULL;
   status = rkb_tune_resolve(manifest, tune_json, tune, finding, err);
   if (status != RKB_OK || finding->reason[0])
      return status;
   planner.arena = rkb_arena_new(0);
   if (make_buffers(&planner) && make_launches(&planner)) {
      const rkb_plan_t made = {.version = 1,
                               .buffer_count = planner.buffer_count,
                               .launch_count = planner.launch_count,
                               .constant_count = planner.constant_count,
                               .buffers = planner.buffers,
                               .launches = planner.launches,
                               .constants = planner.constants,
                               .map_count = planner.map_count,
                               .maps = planner.maps};
      *plan = plan_adopt(planner.arena, &made, planner.choices);
   }
   if (*plan)
      return RKB_OK;
   rkb_arena_free(planner.arena);
   if (finding->reason[0])
      return RKB_OK;
   return rkb_fail(err, RKB_ERR_INTERNAL, "the plan could not be made, and nothing says why");
}

int rkb_plan_mark_launched(const rkb_manifest_t *manifest, const char *tune_json, const rkb_device_t *device,
                           const rkb_case_t *the_case, rkb_lookup_t lookup, void *argument, bool *launched,
                           rkb_finding_t *finding, rkb_error_t *err) {
   int64_t tune[RKB_MANIFEST_MAX_ENTRIES];
   planner_t planner = {.manifest = (const manifest_t *)manifest,
                        .device = device,
                        .named = device,
                        .the_case = the_case,
                        .lookup = lookup,
                        .argument = argument,
                        .launched = launched,
                        .tune = tune,
                        .finding = finding};
   int status = rkb_tune_resolve(manifest, tune_json, tune, finding, err);
   if (status != RKB_OK || finding->reason[0])
      return status;
   planner.arena = rkb_arena_new(0);
   if (!(make_buffers(&planner) && make_launches(&planner)) && !finding->reason[0])
      status = rkb_fail(err, RKB_ERR_INTERNAL, "the launches could not be found, and nothing says why");
   rkb_arena_free(planner.arena);
   return status;
}

int rkb_plan_make_borrowed(const rkb_manifest_t *manifest, const char *tune_json, const rkb_build_t *build,
                           const rkb_device_t *device, const rkb_case_t *the_case, rkb_lookup_t lookup,
                           void *argument, const rkb_plan_t *lender, rkb_plan_t **plan,
                           rkb_finding_t *finding, rkb_error_t *err) {
   return make(manifest, tune_json, build, device, the_case, lookup, argument, lender, NULL, NULL, plan,
               finding, err);
}

int rkb_plan_make_decided(const rkb_manifest_t *manifest, const char *tune_json, const rkb_build_t *build,
                          const rkb_device_t *device, const rkb_case_t *the_case, rkb_lookup_t lookup,
                          void *argument, rkb_decided_t decided, void *decided_argument, rkb_plan_t **plan,
                          rkb_finding_t *finding, rkb_error_t *err) {
   return make(manifest, tune_json, build, device, the_case, lookup, argument, NULL, decided,
               decided_argument, plan, finding, err);
}

int rkb_plan_make(const rkb_manifest_t *manifest, const char *tune_json, const rkb_build_t *build,
                  const rkb_device_t *device, const rkb_case_t *the_case, rkb_lookup_t lookup, void *argument,
                  rkb_plan_t **plan, rkb_finding_t *finding, rkb_error_t *err) {
   return make(manifest, tune_json, build, device, the_case, lookup, argument, NULL, NULL, NULL, plan,
               finding, err);
}
