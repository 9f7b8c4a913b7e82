/* The rule by which a kernel's numbers are compared with the reference.  Pure functions.
 *
 *   nothing              don't-care elements
 *   numeric.nonfinite    NaN or infinite where the reference is finite
 *   exact                equality on exact families, but for ambiguous elements and transforms
 *   hard                 outside: rejected, whatever the data
 *   stat                 outside: numeric.precision, rejected where the family decides precision, else
 * suspect
 *
 * What breaks no rule while too many of its elements are ambiguous is not passed but refused, as RKB_ERR_LIMIT. */
#include "task/task_parts.h"

#include <math.h>
#include <string.h>
#include "reference/dtype.h"

/* A rounding of a lower precision exceeds an fp32 bound by at most this much (bf16 against fp32 is 2^16). */
#define LOWER_PRECISION 0x1p17

/* Ambiguous elements are taken on trust within both branches: where they are more than this share of an output (and
 * more than the few that a small output always may have), a comparison says too little. */
#define AMBIGUOUS_SHARE 0.25
#define AMBIGUOUS_FEW 16u

enum rule { RULE_NONE, RULE_STAT, RULE_EXACT, RULE_HARD, RULE_NONFINITE };

typedef struct judging {
   const rkb_inputs_t *inputs;
   bool exact, stat;
   double relative, absolute; /* the task's own tolerance */
   bool loose;
   uint32_t dtype;
} judging_t;

/* Which rule an element breaks, and its bound. */
static enum rule judge_element(const judging_t *judging, double got, const rkb_point_t *want, double *bound) {
   double error = fabs(got - want->value);
   *bound = judging->loose ? fmax(want->hard, judging->absolute + judging->relative * fabs(want->value))
                           : want->hard;
   if (got == want->value)
      return RULE_NONE;
   if (!isfinite(got) && isfinite(want->value))
      return RULE_NONFINITE;
   if (!(error <= *bound))
      return RULE_HARD;
   if (judging->loose)
      return RULE_NONE;
   if (judging->exact && !(want->flags & RKB_POINT_AMBIGUOUS) &&
       got != rkb_dtype_round(judging->dtype, want->value)) {
      *bound = 0;
      return RULE_EXACT;
   }
   if (judging->stat && want->variance >= 0 && error > want->variance) { /* here the stat bound */
      *bound = want->variance;
      return RULE_STAT;
   }
   return RULE_NONE;
}

static const char *const bound_names[] = {"", "stat", "exact", "hard", "hard"};

/* Whether a broken hard bound looks like too low a precision: the data were made to show it, and the
 * double-precision shadow of the same run is right (or, without a shadow, the error is of that size). */
static bool looks_imprecise(const rkb_inputs_t *inputs, double error, double bound, const double *shadow,
                            double want, uint64_t i) {
   if (shadow)
      return fabs(shadow[i] - want) <= bound;
   return strncmp(inputs->family->view.name, "probe_", 6) == 0 && error <= bound * LOWER_PRECISION;
}

int rkb_task_judge(const rkb_inputs_t *inputs, uint32_t tensor, const void *data, const double *shadow,
                   const rkb_points_t *points, const uint64_t *elements, bool transform,
                   rkb_judgement_t *judgement, rkb_error_t *err) {
   const rkb_bound_t *bound = inputs->bound;
   const rkb_definition_t *definition = bound->definition;
   if (tensor >= bound->view.tensor_count || bound->view.tensors[tensor].role == RKB_IN)
      return rkb_fail(err, RKB_ERR_INVALID, "tensor %u is no output of case %s", tensor, bound->view.name);
   const rkb_family_entry_t *family = inputs->family;
   judging_t judging = {inputs,
                        family->view.exact && !transform,
                        family->view.stat,
                        definition->relative_tolerance,
                        definition->absolute_tolerance,
                        definition->has_tolerance,
                        bound->view.tensors[tensor].dtype};
   *judgement = (rkb_judgement_t){.size = sizeof *judgement, .reason = "", .bound_name = ""};
   enum rule worst = RULE_NONE;
   double worst_ratio = -1;
   bool worst_imprecise = false;
   for (uint64_t i = 0; i < points->count; i++) {
      rkb_point_t want = {points->value[i], points->hard[i], points->stat[i], points->flags[i]};
      double got = rkb_dtype_load(judging.dtype, data, i), broken;
      if (want.flags & RKB_POINT_DONT_CARE) {
         judgement->dont_care++;
         continue;
      }
      judgement->judged++;
      judgement->ambiguous += (want.flags & RKB_POINT_AMBIGUOUS) != 0;
      enum rule rule = judge_element(&judging, got, &want, &broken);
      double error = got == want.value ? 0 : fabs(got - want.value);
      if (isfinite(error) && error > 0) {
         judgement->worst_hard = fmax(judgement->worst_hard, want.hard > 0 ? error / want.hard : INFINITY);
         if (judging.stat && want.variance >= 0)
            judgement->worst_stat =
               fmax(judgement->worst_stat, want.variance > 0 ? error / want.variance : INFINITY);
      }
      if (rule == RULE_NONE || rule < worst)
         continue;
      double ratio = rule == RULE_NONFINITE || !(broken > 0) ? INFINITY : error / broken;
      if (rule > worst) {
         judgement->outside = 0;
         worst_ratio = -1;
      }
      judgement->outside++;
      if (rule > worst || ratio > worst_ratio) {
         worst = rule;
         worst_ratio = ratio;
         worst_imprecise = rule == RULE_HARD && looks_imprecise(inputs, error, broken, shadow, want.value, i);
         judgement->element = elements ? elements[i] : i;
         judgement->got = got;
         judgement->want = want.value;
         judgement->bound = broken;
         judgement->logic = shadow && !(fabs(shadow[i] - want.value) <= want.hard);
      }
   }
   if (worst == RULE_NONE && judgement->ambiguous > AMBIGUOUS_FEW &&
       (double)judgement->ambiguous > AMBIGUOUS_SHARE * (double)points->count)
      return rkb_fail(
         err, RKB_ERR_LIMIT,
         "%llu of %llu elements of %s are ambiguous in case %s, family %s, seed %llu: over the cap of %g %%",
         (unsigned long long)judgement->ambiguous, (unsigned long long)points->count,
         bound->view.tensors[tensor].name, bound->view.name, family->view.name,
         (unsigned long long)inputs->seed, 100 * AMBIGUOUS_SHARE);
   if (worst == RULE_NONE)
      return RKB_OK;
   judgement->bound_name = bound_names[worst];
   bool imprecise = worst == RULE_STAT || worst == RULE_EXACT || worst_imprecise;
   judgement->reason = worst == RULE_NONFINITE ? "numeric.nonfinite"
                       : imprecise             ? "numeric.precision"
                                               : "numeric.mismatch";
   judgement->suspect = family->reports_only || (worst == RULE_STAT && !family->view.decides_precision);
   judgement->standing_is_reject = !judgement->suspect;
   return RKB_OK;
}
