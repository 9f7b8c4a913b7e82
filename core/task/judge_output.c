/* Chooses the rule for an output from the task's tolerance and the family of its inputs.  Any thread. */
#include "task/task_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "reference/dtype.h"
#include "reference/judge.h"
#include "reference/operation.h"
#include "reference/operations/product.h"
#include "task/judged_places.h"

/* Minimal filtering of a weight's gradient.  All of its products occur among the direct products of the window's places, a result has up to 16
 * times the largest of their sums, and each product passes through at most 12 more roundings (docs/numerics.md). */
#define WEIGHT_HARD 64
#define WEIGHT_STAT 4
#define FILTERED_STEP 128u /* elements, so that a wrong kernel costs little */

static bool has_filter(const rkb_program_t *program, enum rkb_filter kind) {
   bool any = false;
   for (uint32_t n = 0; n < program->node_count; n++)
      any |= rkb_filter_of_three(program, &program->nodes[n]) == kind;
   return any;
}

static rkb_judge_rule_t rule_of(const rkb_inputs_t *inputs, uint32_t dtype, bool transform) {
   const rkb_definition_t *definition = inputs->bound->definition;
   const rkb_family_entry_t *family = inputs->family;
   /* Given intermediates are not small integers, whatever the family. */
   return (rkb_judge_rule_t){.exact = family->view.exact && !transform && !inputs->given,
                             .stat = family->view.stat,
                             .loose = definition->has_tolerance,
                             .relative = definition->relative_tolerance,
                             .absolute = definition->absolute_tolerance,
                             .dtype = dtype,
                             .probe = strncmp(family->view.name, "probe_", 6) == 0,
                             .reports_only = family->reports_only,
                             .decides_precision = family->view.decides_precision,
                             .spreads_nan = family->has_nan && transform};
}

static int fail_ambiguous(const rkb_inputs_t *inputs, const char *name, const rkb_judgement_t *judgement,
                          uint64_t count, rkb_error_t *err) {
   return rkb_fail(
      err, RKB_ERR_LIMIT,
      "%llu of %llu elements of %s are ambiguous in case %s, family %s, seed %llu: over the cap of %g %%",
      (unsigned long long)judgement->ambiguous, (unsigned long long)count, name, inputs->bound->view.name,
      inputs->family->view.name, (unsigned long long)inputs->seed, 100 * RKB_AMBIGUOUS_SHARE);
}

/* value: what the elements are of, in the reference's program. */
static int judge_as(const rkb_inputs_t *inputs, const char *name, uint32_t value,
                    const rkb_judge_rule_t *of_family, const void *data, const double *shadow,
                    const rkb_points_t *points, const uint64_t *elements, rkb_judgement_t *judgement,
                    rkb_error_t *err) {
   rkb_judge_rule_t rule = *of_family;
   uint8_t *places = NULL;
   const int status = rkb_judge_places(inputs, value, rule.dtype, data, points, elements, &places, err);
   if (status != RKB_OK)
      return status;
   rule.places = places;
   const bool judged = rkb_judge(&rule, data, shadow, points, elements, judgement);
   free(places);
   return judged ? RKB_OK : fail_ambiguous(inputs, name, judgement, points->count, err);
}

/* What is judged again with the bounds of a transform, some elements at a time. */
typedef struct filtered {
   const rkb_inputs_t *inputs;
   uint32_t tensor;
   const rkb_judge_rule_t *rule; /* with the usual bounds */
   const uint8_t *data;
   const double *shadow;
   const rkb_points_t *points;
   const uint64_t *elements; /* NULL: 0, 1, ... */
   rkb_memory_t *memory;
} filtered_t;

/* Judges count elements: first by the usual bounds, unless they are all that there is, and then by the wider ones.  If too many are ambiguous, no rule is
 * broken; the caller counts them. */
static int judge_part(const filtered_t *f, uint64_t first, uint64_t count, rkb_judgement_t *judgement,
                      rkb_error_t *err) {
   const rkb_bound_t *bound = f->inputs->bound;
   const char *name = bound->view.tensors[f->tensor].name;
   const uint32_t value = bound->program->outputs[f->tensor];
   const uint8_t *data = f->data + first * rkb_dtype_bytes(f->rule->dtype);
   const double *shadow = f->shadow ? f->shadow + first : NULL;
   const rkb_points_t direct = {f->points->value + first, f->points->hard + first, f->points->stat + first,
                                f->points->flags + first, count};
   rkb_judge_rule_t wide = *f->rule;
   rkb_block_t block = {0};
   uint64_t *elements = rkb_try_uncleared(count, sizeof *elements, err);
   int status = elements && rkb_block_new(&block, count)
                   ? RKB_OK
                   : rkb_fail(err, RKB_ERR_NOMEM, "no memory for points");
   for (uint64_t n = 0; status == RKB_OK && n < count; n++)
      elements[n] = f->elements ? f->elements[first + n] : first + n;
   if (status == RKB_OK && count < f->points->count)
      status = judge_as(f->inputs, name, value, f->rule, data, shadow, &direct, elements, judgement, err);
   if (status != RKB_OK || (count < f->points->count && !judgement->reason[0]))
      goto out;
   status = rkb_task_filtered_points(f->inputs, f->memory, f->tensor, elements, count, &block, err);
   if (status != RKB_OK)
      goto out;
   if (has_filter(bound->program, RKB_FILTER_OF_WEIGHT)) {
      wide.hard_growth = WEIGHT_HARD;
      wide.stat_growth = WEIGHT_STAT;
   }
   const rkb_points_t own = {block.value, block.hard, block.variance, block.flags, count};
   status = judge_as(f->inputs, name, value, &wide, data, shadow, &own, elements, judgement, err);
out:
   rkb_block_free(&block);
   free(elements);
   return status == RKB_ERR_LIMIT && judgement->judged && !judgement->reason[0] ? RKB_OK : status;
}

/* Judges again with the bounds of a transform.  They are wider, so what is within the usual bounds needs no such judgement, and if elements are outside of
 * the wider bounds too, the rest does not matter. */
static int judge_filtered(const filtered_t *f, rkb_judgement_t *judgement, rkb_error_t *err) {
   const rkb_bound_t *bound = f->inputs->bound;
   const bool together = has_filter(bound->program, RKB_FILTER_OF_WEIGHT) || bound->precision.passes > 0;
   const uint64_t all = f->points->count, step = together || all < FILTERED_STEP ? all : FILTERED_STEP;
   rkb_judgement_t total = {.size = sizeof total, .reason = "", .bound_name = ""};
   for (uint64_t first = 0; first < all; first += step) {
      *judgement = (rkb_judgement_t){.size = sizeof *judgement, .reason = "", .bound_name = ""};
      const int status = judge_part(f, first, all - first < step ? all - first : step, judgement, err);
      if (status != RKB_OK || judgement->reason[0])
         return status;
      total.judged += judgement->judged;
      total.ambiguous += judgement->ambiguous;
      total.dont_care += judgement->dont_care;
      total.worst_hard = fmax(total.worst_hard, judgement->worst_hard);
      total.worst_stat = fmax(total.worst_stat, judgement->worst_stat);
   }
   *judgement = total;
   return rkb_judge_has_too_many(judgement, all)
             ? fail_ambiguous(f->inputs, bound->view.tensors[f->tensor].name, judgement, all, err)
             : RKB_OK;
}

int rkb_task_judge(const rkb_inputs_t *inputs, uint32_t tensor, const void *data, const double *shadow,
                   const rkb_points_t *points, const uint64_t *elements, bool transform,
                   rkb_judgement_t *judgement, rkb_error_t *err) {
   const rkb_case_t *view = &inputs->bound->view;
   const rkb_program_t *program = inputs->bound->program;
   if (tensor >= view->tensor_count || view->tensors[tensor].role == RKB_IN)
      return rkb_fail(err, RKB_ERR_INVALID, "tensor %u is not an output of case %s", tensor, view->name);
   const rkb_judge_rule_t rule = rule_of(inputs, view->tensors[tensor].dtype, transform);
   const int status = judge_as(inputs, view->tensors[tensor].name, program->outputs[tensor], &rule, data,
                               shadow, points, elements, judgement, err);
   const bool is_filtered =
      transform && (has_filter(program, RKB_FILTER_OF_ELEMENTS) || has_filter(program, RKB_FILTER_OF_WEIGHT));
   if (status != RKB_OK || !judgement->reason[0] || !is_filtered)
      return status;
   rkb_memory_t *memory = rkb_memory_new(inputs->bound->steps->value_count, inputs->bound->budget / 2);
   const filtered_t filtered = {inputs, tensor, &rule, data, shadow, points, elements, memory};
   const int again = judge_filtered(&filtered, judgement, err);
   rkb_memory_free(memory);
   return again;
}

int rkb_task_judge_intermediate(const rkb_inputs_t *inputs, uint32_t number, uint32_t dtype, const void *data,
                                const rkb_points_t *points, const uint64_t *elements,
                                rkb_judgement_t *judgement, rkb_error_t *err) {
   rkb_intermediate_t intermediate;
   if (!rkb_task_intermediate(&inputs->bound->view, number, &intermediate))
      return rkb_fail(err, RKB_ERR_INVALID, "case %s has no intermediate number %u", inputs->bound->view.name, number);
   /* if the rule is not exact, sums may be in any order */
   const rkb_judge_rule_t rule = rule_of(inputs, dtype, true);
   return judge_as(inputs, intermediate.name, inputs->bound->steps->nodes[number].output, &rule, data, NULL,
                   points, elements, judgement, err);
}

double rkb_task_element(const rkb_tensor_t *tensor, const void *bytes, uint64_t i) {
   return rkb_dtype_load(tensor->dtype, bytes, i);
}
