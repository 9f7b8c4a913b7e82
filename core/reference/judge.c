/* The rule by which a kernel's numbers are compared with the reference.  Pure functions.
 *
 *   nothing              don't-care elements
 *   numeric.nonfinite    NaN or infinite where the reference is finite
 *   exact                equality on exact families, but for ambiguous elements and transforms
 *   hard                 outside: rejected, whatever the data
 *   stat                 outside: numeric.precision, rejected where the family decides precision, else suspect
 *
 * What breaks no rule while too many of its elements are ambiguous is not passed but refused. */
#include "reference/judge.h"

#include <math.h>
#include "reference/dtype.h"
#include "reference/operation.h"

/* A rounding of a lower precision exceeds an fp32 bound by at most this much (bf16 against fp32 is 2^16). */
#define LOWER_PRECISION 0x1p17

/* Ambiguous elements are taken on trust within both branches: where they are more than RKB_AMBIGUOUS_SHARE of an output (and more
 * than the few that a small output always may have), a comparison says too little. */
#define AMBIGUOUS_FEW 16u

enum broken { RULE_NONE, RULE_STAT, RULE_EXACT, RULE_HARD, RULE_NONFINITE };

/* Which rule an element breaks, and its bound. */
static enum broken judge_element(const rkb_judge_rule_t *rule, double got, const rkb_point_t *want,
                                 double *bound) {
   double error = fabs(got - want->value);
   *bound = rule->loose ? fmax(want->hard, rule->absolute + rule->relative * fabs(want->value)) : want->hard;
   if (got == want->value)
      return RULE_NONE;
   if (!isfinite(got) && isfinite(want->value))
      return RULE_NONFINITE;
   if (!(error <= *bound))
      return RULE_HARD;
   if (rule->loose)
      return RULE_NONE;
   if (rule->exact && !(want->flags & RKB_POINT_AMBIGUOUS) &&
       got != rkb_dtype_round(rule->dtype, want->value)) {
      *bound = 0;
      return RULE_EXACT;
   }
   if (rule->stat && want->variance >= 0 && error > want->variance) { /* here the stat bound */
      *bound = want->variance;
      return RULE_STAT;
   }
   return RULE_NONE;
}

static const char *const bound_names[] = {"", "stat", "exact", "hard", "hard"};

/* Whether a broken hard bound looks like too low a precision: the data were made to show it, and the
 * double-precision shadow of the same run is right (or, without a shadow, the error is of that size). */
static bool looks_imprecise(const rkb_judge_rule_t *rule, double error, double bound, const double *shadow,
                            double want, uint64_t i) {
   if (shadow)
      return fabs(shadow[i] - want) <= bound;
   return rule->probe && error <= bound * LOWER_PRECISION;
}

bool rkb_judge(const rkb_judge_rule_t *rule, const void *data, const double *shadow,
               const rkb_points_t *points, const uint64_t *elements, rkb_judgement_t *judgement) {
   *judgement = (rkb_judgement_t){.size = sizeof *judgement, .reason = "", .bound_name = ""};
   enum broken worst = RULE_NONE;
   double worst_ratio = -1;
   bool worst_imprecise = false;
   for (uint64_t i = 0; i < points->count; i++) {
      rkb_point_t want = {points->value[i], points->hard[i], points->stat[i], points->flags[i]};
      double got = rkb_dtype_load(rule->dtype, data, i), broken;
      if (want.flags & RKB_POINT_DONT_CARE) {
         judgement->dont_care++;
         continue;
      }
      judgement->judged++;
      judgement->ambiguous += (want.flags & RKB_POINT_AMBIGUOUS) != 0;
      const enum broken breaks = judge_element(rule, got, &want, &broken);
      double error = got == want.value ? 0 : fabs(got - want.value);
      if (isfinite(error) && error > 0) {
         judgement->worst_hard = fmax(judgement->worst_hard, want.hard > 0 ? error / want.hard : INFINITY);
         if (rule->stat && want.variance >= 0)
            judgement->worst_stat =
               fmax(judgement->worst_stat, want.variance > 0 ? error / want.variance : INFINITY);
      }
      if (breaks == RULE_NONE || breaks < worst)
         continue;
      double ratio = breaks == RULE_NONFINITE || !(broken > 0) ? INFINITY : error / broken;
      if (breaks > worst) {
         judgement->outside = 0;
         worst_ratio = -1;
      }
      judgement->outside++;
      if (breaks > worst || ratio > worst_ratio) {
         worst = breaks;
         worst_ratio = ratio;
         worst_imprecise = breaks == RULE_HARD && looks_imprecise(rule, error, broken, shadow, want.value, i);
         judgement->element = elements ? elements[i] : i;
         judgement->got = got;
         judgement->want = want.value;
         judgement->bound = broken;
         judgement->logic = shadow && !(fabs(shadow[i] - want.value) <= want.hard);
      }
   }
   if (worst == RULE_NONE && judgement->ambiguous > AMBIGUOUS_FEW &&
       (double)judgement->ambiguous > RKB_AMBIGUOUS_SHARE * (double)points->count)
      return false;
   if (worst == RULE_NONE)
      return true;
   judgement->bound_name = bound_names[worst];
   bool imprecise = worst == RULE_STAT || worst == RULE_EXACT || worst_imprecise;
   judgement->reason = worst == RULE_NONFINITE ? "numeric.nonfinite"
                       : imprecise             ? "numeric.precision"
                                               : "numeric.mismatch";
   judgement->suspect = rule->reports_only || (worst == RULE_STAT && !rule->decides_precision);
   judgement->standing_is_reject = !judgement->suspect;
   return true;
}
