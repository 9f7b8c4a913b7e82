/* The rule that compares a kernel's numbers with the reference.  Pure functions; any thread.
 *
 * For each element, in this order:
 *
 *   don't-care           is not compared
 *   numeric.nonfinite    NaN or infinite where the reference is finite, unless a transform spreads the inputs' NaN;
 *                        a number where the reference is NaN
 *   place                a place that another element of the row must have
 *   exact                on exact families the values must be equal, except for ambiguous elements and transforms
 *   hard                 outside the hard bound: rejected, whatever the data
 *   stat                 outside the stat bound: numeric.precision; rejected if the family decides precision, else suspect
 *
 * An output that breaks no rule is still refused, not passed, when too many of its elements are ambiguous. */
#include "reference/judge.h"

#include <math.h>
#include "reference/dtype.h"
#include "reference/operation.h"

/* Lower precision exceeds an fp32 bound by at most this factor (bf16 against fp32 is 2^16). */
#define LOWER_PRECISION 0x1p17

/* An ambiguous element may hold the value of either branch.  If more than RKB_AMBIGUOUS_SHARE of an output is ambiguous, a
 * comparison proves too little.  A small output may always have this many. */
#define AMBIGUOUS_FEW 16u

enum broken { RULE_NONE, RULE_STAT, RULE_EXACT, RULE_PLACE, RULE_HARD, RULE_NONFINITE };

/* Returns the rule that an element breaks, and the bound. */
static enum broken judge_element(const rkb_judge_rule_t *rule, double got, const rkb_point_t *want,
                                 enum rkb_place_standing place, double *bound) {
   double error = fabs(got - want->value);
   *bound = rule->loose ? fmax(want->hard, rule->absolute + rule->relative * fabs(want->value)) : want->hard;
   if (got == want->value || (isnan(got) && (isnan(want->value) || rule->spreads_nan)))
      return place == RKB_PLACE_WRONG ? RULE_PLACE : RULE_NONE;
   if (isnan(want->value) || (!isfinite(got) && isfinite(want->value)))
      return RULE_NONFINITE;
   if (!(error <= *bound))
      return RULE_HARD;
   if (place != RKB_PLACE_UNKNOWN) {
      *bound = 0;
      return place == RKB_PLACE_WRONG ? RULE_PLACE : RULE_NONE;
   }
   if (rule->loose)
      return RULE_NONE;
   if (rule->exact && !(want->flags & RKB_POINT_AMBIGUOUS) &&
       got != rkb_dtype_round(rule->dtype, want->value)) {
      *bound = 0;
      return RULE_EXACT;
   }
   if (rule->stat && want->variance >= 0 && error > want->variance) { /* variance holds the stat bound here */
      *bound = want->variance;
      return RULE_STAT;
   }
   return RULE_NONE;
}

/* The largest bounds of elements that are judged. */
static rkb_point_t largest_bounds(const rkb_points_t *points) {
   rkb_point_t largest = {0};
   for (uint64_t i = 0; i < points->count; i++) {
      if (points->flags[i] & RKB_POINT_DONT_CARE)
         continue;
      largest.hard = fmax(largest.hard, points->hard[i]);
      largest.variance = fmax(largest.variance, points->stat[i]);
   }
   return largest;
}

static const char *const bound_names[] = {"", "stat", "exact", "place", "hard", "hard"};

/* Whether a broken hard bound looks like too low a precision.  That needs inputs made to show low precision, and a double-precision
 * shadow of the same run that is right; without a shadow, the error must have the size of low precision. */
static bool looks_imprecise(const rkb_judge_rule_t *rule, double error, double bound, const double *shadow,
                            double want, uint64_t i) {
   if (shadow)
      return fabs(shadow[i] - want) <= bound;
   return rule->probe && error <= bound * LOWER_PRECISION;
}

bool rkb_judge_has_too_many(const rkb_judgement_t *judgement, uint64_t count) {
   return judgement->ambiguous > AMBIGUOUS_FEW &&
          (double)judgement->ambiguous > RKB_AMBIGUOUS_SHARE * (double)count;
}

bool rkb_judge(const rkb_judge_rule_t *rule, const void *data, const double *shadow,
               const rkb_points_t *points, const uint64_t *elements, rkb_judgement_t *judgement) {
   *judgement = (rkb_judgement_t){.size = sizeof *judgement, .reason = "", .bound_name = ""};
   enum broken worst = RULE_NONE;
   double worst_ratio = -1;
   bool worst_imprecise = false;
   const rkb_point_t largest = rule->hard_growth > 0 ? largest_bounds(points) : (rkb_point_t){0};
   for (uint64_t i = 0; i < points->count; i++) {
      rkb_point_t want = {points->value[i], points->hard[i], points->stat[i], points->flags[i]};
      if (rule->hard_growth > 0) {
         want.hard = rule->hard_growth * largest.hard;
         want.variance = want.variance >= 0 ? rule->stat_growth * largest.variance : want.variance;
      }
      double got = rkb_dtype_load(rule->dtype, data, i), broken;
      if (want.flags & RKB_POINT_DONT_CARE) {
         judgement->dont_care++;
         continue;
      }
      judgement->judged++;
      const enum rkb_place_standing place = rule->places ? rule->places[i] : RKB_PLACE_UNKNOWN;
      judgement->ambiguous += (want.flags & RKB_POINT_AMBIGUOUS) != 0 && place != RKB_PLACE_RIGHT;
      const enum broken breaks = judge_element(rule, got, &want, place, &broken);
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
         worst_imprecise |= breaks == RULE_PLACE && shadow && shadow[i] == want.value;
         judgement->element = elements ? elements[i] : i;
         judgement->got = got;
         judgement->want = want.value;
         judgement->bound = broken;
         judgement->logic = shadow && !(fabs(shadow[i] - want.value) <= want.hard);
      }
   }
   if (worst == RULE_NONE)
      return !rkb_judge_has_too_many(judgement, points->count);
   judgement->bound_name = bound_names[worst];
   bool imprecise = worst == RULE_STAT || worst == RULE_EXACT || worst_imprecise;
   judgement->reason = worst == RULE_NONFINITE ? "numeric.nonfinite"
                       : imprecise             ? "numeric.precision"
                                               : "numeric.mismatch";
   judgement->suspect = rule->reports_only || (worst == RULE_STAT && !rule->decides_precision);
   judgement->standing_is_reject = !judgement->suspect;
   return true;
}
