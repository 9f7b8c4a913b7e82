/* Chooses the rule for an output from the task's tolerance and the family of its inputs.  Any thread. */
#include "task/task_parts.h"

#include <stdlib.h>
#include <string.h>
#include "reference/judge.h"
#include "reference/operation.h"
#include "reference/operations/product.h"
#include "task/judged_places.h"

/* Minimal filtering of a weight's gradient.  All of its products occur among the direct products of the window's places, a result has up to 16
 * times the largest of their sums, and each product passes through at most 12 more roundings (docs/numerics.md). */
#define WEIGHT_HARD 64
#define WEIGHT_STAT 4

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
   if (judged)
      return RKB_OK;
   return rkb_fail(
      err, RKB_ERR_LIMIT,
      "%llu of %llu elements of %s are ambiguous in case %s, family %s, seed %llu: over the cap of %g %%",
      (unsigned long long)judgement->ambiguous, (unsigned long long)points->count, name, inputs->bound->view.name,
      inputs->family->view.name, (unsigned long long)inputs->seed, 100 * RKB_AMBIGUOUS_SHARE);
}

/* Judges again with the bounds of a transform.  They are wider, so what is within the direct bounds needs no such judgement. */
static int judge_filtered(const rkb_inputs_t *inputs, uint32_t tensor, const rkb_judge_rule_t *rule,
                          const void *data, const double *shadow, const rkb_points_t *points,
                          const uint64_t *elements, rkb_judgement_t *judgement, rkb_error_t *err) {
   const rkb_bound_t *bound = inputs->bound;
   rkb_judge_rule_t wide = *rule;
   rkb_block_t block;
   if (!rkb_block_new(&block, points->count))
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for points");
   int status = rkb_task_filtered_points(inputs, tensor, elements, points->count, &block, err);
   if (status == RKB_OK) {
      const rkb_points_t own = {block.value, block.hard, block.variance, block.flags, points->count};
      if (has_filter(bound->program, RKB_FILTER_OF_WEIGHT)) {
         wide.hard_growth = WEIGHT_HARD;
         wide.stat_growth = WEIGHT_STAT;
      }
      status = judge_as(inputs, bound->view.tensors[tensor].name, bound->program->outputs[tensor], &wide,
                        data, shadow, &own, elements, judgement, err);
   }
   rkb_block_free(&block);
   return status;
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
   return judge_filtered(inputs, tensor, &rule, data, shadow, points, elements, judgement, err);
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
