/* Pairs runs and tests their ratios (paired_comparison.h).  The main thread alone. */
#include "cli/report/paired_comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "statistics/paired_test.h"

typedef struct pairing {
   const rkb_compared_runs_t *runs;
   uint32_t baseline;
   enum rkb_spending over; /* RKB_SPENDINGS means whole runs */
} pairing_t;

json_t *rkb_number_json(double value) {
   return isfinite(value) ? json_real(value) : json_null();
}

json_t *rkb_interval_json(rkb_interval_t interval) {
   return json_pack("{s:o, s:o, s:o}", "estimate", rkb_number_json(interval.estimate), "low",
                    rkb_number_json(interval.low), "high", rkb_number_json(interval.high));
}

/* The first unpaired run of the arm on the same subject with the same seed; NULL for none. */
static const rkb_run_series_t *partner_of(const pairing_t *all, const rkb_run_series_t *run, bool *taken) {
   for (uint32_t i = 0; i < all->runs->count; i++) {
      const rkb_run_series_t *other = &all->runs->list[i];
      if (!taken[i] && rkb_compared_runs_arm(all->runs, other->arm) == all->baseline &&
          other->seed == run->seed && strcmp(other->subject, run->subject) == 0) {
         taken[i] = true;
         return other;
      }
   }
   return NULL;
}

/* The spending at which a pair of runs is cut. */
static double budget_of(const pairing_t *all, const rkb_run_series_t *run, const rkb_run_series_t *baseline) {
   return all->over == RKB_SPENDINGS ? NAN : fmin(run->total[all->over], baseline->total[all->over]);
}

static double value_at(const pairing_t *all, const rkb_run_series_t *run, double budget) {
   return all->over == RKB_SPENDINGS ? run->value : rkb_step_curve_at(&run->best[all->over], budget, NAN);
}

/* The logarithm of (baseline's value / the arm's): positive when the arm is better.  Infinite when one of the two found nothing, 0 when
 * neither did. */
static double log_ratio(double value, double baseline) {
   if (isnan(value) || isnan(baseline))
      return isnan(value) == isnan(baseline) ? 0 : isnan(value) ? -INFINITY : INFINITY;
   return log(baseline / value);
}

/* The pairs of an arm. */
typedef struct pairs {
   double *differences;          /* differences of all pairs */
   double *finite;               /* differences of the pairs in which both runs found something */
   uint32_t *strata;             /* the subjects of those pairs */
   uint32_t count, finite_count; /* lengths of the two lists */
   uint32_t better, worse, unmatched;
   double least_budget, most_budget;
} pairs_t;

static void add_pair(const pairing_t *all, const rkb_run_series_t *run, const rkb_run_series_t *partner, pairs_t *pairs) {
   const double budget = budget_of(all, run, partner);
   const double difference = log_ratio(value_at(all, run, budget), value_at(all, partner, budget));
   pairs->least_budget = fmin(pairs->least_budget, budget);
   pairs->most_budget = fmax(pairs->most_budget, budget);
   pairs->differences[pairs->count++] = difference;
   pairs->better += difference > 0;
   pairs->worse += difference < 0;
   if (isfinite(difference)) {
      pairs->strata[pairs->finite_count] = rkb_compared_runs_subject(all->runs, run->subject);
      pairs->finite[pairs->finite_count++] = difference;
   }
}

static void find_pairs(const pairing_t *all, uint32_t arm, pairs_t *pairs) {
   const uint32_t count = all->runs->count;
   bool *taken = rkb_allocate(count, sizeof *taken);
   for (uint32_t i = 0; i < count; i++) {
      const rkb_run_series_t *run = &all->runs->list[i];
      if (rkb_compared_runs_arm(all->runs, run->arm) != arm)
         continue;
      const rkb_run_series_t *partner = partner_of(all, run, taken);
      if (partner)
         add_pair(all, run, partner, pairs);
      else
         pairs->unmatched++;
   }
   for (uint32_t i = 0; i < count; i++)
      pairs->unmatched += rkb_compared_runs_arm(all->runs, all->runs->list[i].arm) == all->baseline && !taken[i];
   free(taken);
}

static json_t *comparison_json(const pairing_t *all, uint32_t arm, double *p) {
   const uint32_t most = all->runs->count;
   pairs_t pairs = {.differences = rkb_allocate(most, sizeof(double)),
                    .finite = rkb_allocate(most, sizeof(double)),
                    .strata = rkb_allocate(most, sizeof(uint32_t)),
                    .least_budget = NAN,
                    .most_budget = NAN};
   find_pairs(all, arm, &pairs);
   const rkb_signed_rank_t test = rkb_signed_rank(pairs.differences, pairs.count);
   rkb_interval_t ratio = rkb_bootstrap(RKB_STATISTIC_MEAN, pairs.finite, pairs.strata, pairs.finite_count);
   ratio = (rkb_interval_t){exp(ratio.estimate), exp(ratio.low), exp(ratio.high)};
   *p = pairs.count ? test.p : NAN;
   json_t *comparison =
      json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:b}", "arm", all->runs->arms[arm], "pairs",
                (json_int_t)pairs.count, "unmatched", (json_int_t)pairs.unmatched, "better", (json_int_t)pairs.better,
                "same", (json_int_t)(pairs.count - pairs.better - pairs.worse), "worse", (json_int_t)pairs.worse,
                "ratio", rkb_interval_json(ratio), "p", rkb_number_json(*p), "least_p", rkb_number_json(test.least_p),
                "exact", test.exact);
   if (all->over != RKB_SPENDINGS)
      json_object_set_new(comparison, "budget",
                          json_pack("{s:o, s:o}", "least", rkb_number_json(pairs.least_budget), "most",
                                    rkb_number_json(pairs.most_budget)));
   free(pairs.strata);
   free(pairs.finite);
   free(pairs.differences);
   return comparison;
}

json_t *rkb_paired_comparisons(const rkb_compared_runs_t *runs, uint32_t baseline, enum rkb_spending over) {
   const pairing_t all = {runs, baseline, over};
   json_t *list = json_array();
   double *p = rkb_allocate(runs->arm_count, sizeof *p), *adjusted = rkb_allocate(runs->arm_count, sizeof *adjusted);
   uint32_t tests = 0, at = 0;
   for (uint32_t arm = 0; arm < runs->arm_count; arm++) {
      double value;
      if (arm == baseline)
         continue;
      json_array_append_new(list, comparison_json(&all, arm, &value));
      if (!isnan(value)) /* an arm without pairs is not tested */
         p[tests++] = value;
   }
   rkb_holm(p, tests, adjusted);
   for (size_t i = 0; i < json_array_size(list); i++) {
      json_t *comparison = json_array_get(list, i);
      const bool tested = json_is_number(json_object_get(comparison, "p"));
      json_object_set_new(comparison, "p_holm", tested ? rkb_number_json(adjusted[at++]) : json_null());
   }
   free(adjusted);
   free(p);
   return list;
}
