/* Chooses the rule for an output from the task's tolerance and the family of its inputs.  Any thread. */
#include "task/task_parts.h"

#include <string.h>
#include "reference/judge.h"

int rkb_task_judge(const rkb_inputs_t *inputs, uint32_t tensor, const void *data, const double *shadow,
                   const rkb_points_t *points, const uint64_t *elements, bool transform,
                   rkb_judgement_t *judgement, rkb_error_t *err) {
   const rkb_bound_t *bound = inputs->bound;
   const rkb_definition_t *definition = bound->definition;
   const rkb_family_entry_t *family = inputs->family;
   if (tensor >= bound->view.tensor_count || bound->view.tensors[tensor].role == RKB_IN)
      return rkb_fail(err, RKB_ERR_INVALID, "tensor %u is not an output of case %s", tensor, bound->view.name);
   const rkb_judge_rule_t rule = {.exact = family->view.exact && !transform,
                                  .stat = family->view.stat,
                                  .loose = definition->has_tolerance,
                                  .relative = definition->relative_tolerance,
                                  .absolute = definition->absolute_tolerance,
                                  .dtype = bound->view.tensors[tensor].dtype,
                                  .probe = strncmp(family->view.name, "probe_", 6) == 0,
                                  .reports_only = family->reports_only,
                                  .decides_precision = family->view.decides_precision,
                                  .spreads_nan = family->has_nan && transform};
   if (rkb_judge(&rule, data, shadow, points, elements, judgement))
      return RKB_OK;
   return rkb_fail(
      err, RKB_ERR_LIMIT,
      "%llu of %llu elements of %s are ambiguous in case %s, family %s, seed %llu: over the cap of %g %%",
      (unsigned long long)judgement->ambiguous, (unsigned long long)points->count,
      bound->view.tensors[tensor].name, bound->view.name, family->view.name, (unsigned long long)inputs->seed,
      100 * RKB_AMBIGUOUS_SHARE);
}
