/* Computes a comparison (arm_comparison.h).  The main thread alone. */
#include "cli/report/arm_comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/nearest_name.h"
#include "base/text.h"
#include "cli/report/paired_comparison.h"
#include "statistics/summary.h"

static const double points[] = {0.1, 0.25, 0.5, 0.75, 1};
enum { POINTS = sizeof points / sizeof *points };

typedef struct comparing {
   const rkb_compared_runs_t *runs;
   uint32_t baseline;          /* index of the arm */
   double *best;               /* by subject: the best value of all runs; NaN for none */
   double *end[RKB_SPENDINGS]; /* by subject: the spending of the longest run */
   bool spent[RKB_SPENDINGS];  /* whether every run reports its spending, and at least one spent something */
   double *values;             /* has room for one number per run */
   uint32_t *strata;
} comparing_t;

static uint32_t subject_of(const comparing_t *all, const rkb_run_series_t *run) {
   return rkb_compared_runs_subject(all->runs, run->subject);
}

static double share_of(double value, double best) {
   return isnan(value) ? 0 : best / value;
}

/* The measures of a run.  A run that has no value by a measure gets NaN. */
enum measure { BY_VALUE, BY_SHARE, BY_GAIN, BY_EVALUATIONS, BY_SECONDS, BY_CALLS, BY_USD, MEASURES };
static const char *const measure_names[MEASURES] = {"value",       "share",   "gain",
                                                    "evaluations", "seconds", "calls", "usd"};

static double measure_of(const comparing_t *all, const rkb_run_series_t *run, enum measure measure) {
   switch (measure) {
   case BY_VALUE:
      return run->value;
   case BY_SHARE:
      return share_of(run->value, all->best[subject_of(all, run)]);
   case BY_GAIN:
      return run->first / run->value;
   case BY_EVALUATIONS:
      return run->total[RKB_OVER_EVALUATIONS];
   case BY_SECONDS:
      return run->total[RKB_OVER_SECONDS];
   case BY_CALLS:
      return run->total[RKB_OVER_CALLS];
   default:
      return run->total[RKB_OVER_DOLLARS];
   }
}

/* Fills values and strata with the measure of the arm's runs on the subject, or on all subjects for
 * UINT32_MAX.  Returns their number. */
static uint32_t collect(comparing_t *all, uint32_t arm, uint32_t subject, enum measure measure) {
   uint32_t count = 0;
   for (uint32_t i = 0; i < all->runs->count; i++) {
      const rkb_run_series_t *run = &all->runs->list[i];
      const uint32_t on = subject_of(all, run);
      const double value = measure_of(all, run, measure);
      if (rkb_compared_runs_arm(all->runs, run->arm) != arm || (subject != UINT32_MAX && on != subject) ||
          !isfinite(value))
         continue;
      all->strata[count] = on;
      all->values[count++] = value;
   }
   return count;
}

static json_t *summary_json(comparing_t *all, uint32_t arm, uint32_t subject) {
   const bool whole = subject == UINT32_MAX;
   const uint32_t runs = collect(all, arm, subject, BY_EVALUATIONS),
                  found = collect(all, arm, subject, BY_VALUE);
   json_t *summary = json_pack("{s:s, s:o, s:I, s:I}", "arm", all->runs->arms[arm], "subject",
                               whole ? json_null() : json_string(all->runs->subjects[subject]), "runs",
                               (json_int_t)runs, "found", (json_int_t)found);
   for (int measure = 0; measure < MEASURES; measure++) {
      if (measure == BY_VALUE && whole && all->runs->subject_count > 1)
         continue; /* values of different tasks have no mean */
      const uint32_t count = collect(all, arm, subject, (enum measure)measure);
      json_object_set_new(
         summary, measure_names[measure],
         json_pack("{s:o, s:o}", "median",
                   rkb_interval_json(rkb_bootstrap(RKB_STATISTIC_MEDIAN, all->values, all->strata, count)),
                   "mean",
                   rkb_interval_json(rkb_bootstrap(RKB_STATISTIC_MEAN, all->values, all->strata, count))));
   }
   return summary;
}

static json_t *summaries_json(comparing_t *all) {
   json_t *list = json_array();
   for (uint32_t subject = 0; all->runs->subject_count > 1 && subject < all->runs->subject_count; subject++)
      for (uint32_t arm = 0; arm < all->runs->arm_count; arm++)
         json_array_append_new(list, summary_json(all, arm, subject));
   for (uint32_t arm = 0; arm < all->runs->arm_count; arm++)
      json_array_append_new(list, summary_json(all, arm, UINT32_MAX));
   return list;
}

/* Returns a run's share of the best known value, at the moment when the run had spent this part of the largest spending on the subject. */
static double share_at(const comparing_t *all, const rkb_run_series_t *run, enum rkb_spending over,
                       double part) {
   const uint32_t subject = subject_of(all, run);
   const double value = rkb_step_curve_at(&run->best[over], part * all->end[over][subject], NAN);
   return share_of(value, all->best[subject]);
}

static double best_over_value(double value, double best) {
   return share_of(value, best);
}

static json_t *arm_curve(comparing_t *all, uint32_t arm, enum rkb_spending over) {
   json_t *shares = json_array();
   uint32_t count = 0;
   for (int point = 0; point <= POINTS; point++) { /* the last round is for the area */
      count = 0;
      for (uint32_t i = 0; i < all->runs->count; i++) {
         const rkb_run_series_t *run = &all->runs->list[i];
         const uint32_t subject = subject_of(all, run);
         if (rkb_compared_runs_arm(all->runs, run->arm) != arm)
            continue;
         all->strata[count] = subject;
         all->values[count++] = point < POINTS
                                   ? share_at(all, run, over, points[point])
                                   : rkb_step_curve_mean(&run->best[over], all->end[over][subject],
                                                         best_over_value, all->best[subject]);
      }
      if (point < POINTS)
         json_array_append_new(shares, rkb_number_json(rkb_mean(all->values, count)));
   }
   return json_pack("{s:s, s:o, s:o}", "arm", all->runs->arms[arm], "share", shares, "area",
                    rkb_interval_json(rkb_bootstrap(RKB_STATISTIC_MEAN, all->values, all->strata, count)));
}

/* The same pairs at equal budgets: each pair is cut at the end of the run that spent less.  Seconds are left
 * out, because they differ from run to run. */
static json_t *equal_json(const comparing_t *all) {
   json_t *list = json_array();
   for (int over = 0; over < RKB_SPENDINGS; over++)
      if (all->spent[over] && over != RKB_OVER_SECONDS)
         json_array_append_new(list, json_pack("{s:s, s:o}", "over", rkb_spending_names[over], "comparisons",
                                               rkb_paired_comparisons(all->runs, all->baseline, over)));
   return list;
}

static json_t *curves_json(comparing_t *all) {
   json_t *list = json_array();
   for (int over = 0; over < RKB_SPENDINGS; over++) {
      json_t *arms = json_array(), *parts = json_array();
      for (uint32_t arm = 0; all->spent[over] && arm < all->runs->arm_count; arm++)
         json_array_append_new(arms, arm_curve(all, arm, (enum rkb_spending)over));
      for (int point = 0; point < POINTS; point++)
         json_array_append_new(parts, json_real(points[point]));
      json_t *curve =
         json_pack("{s:s, s:o, s:o}", "over", rkb_spending_names[over], "points", parts, "arms", arms);
      if (all->spent[over])
         json_array_append(list, curve);
      json_decref(curve);
   }
   return list;
}

json_t *rkb_steps_json(const rkb_step_curve_t *curve) {
   json_t *steps = json_array();
   for (uint32_t i = 0; i < curve->count; i++)
      json_array_append_new(steps,
                            json_pack("[o, o]", rkb_number_json(curve->steps[i].at), rkb_number_json(curve->steps[i].value)));
   return steps;
}

static json_t *run_json(const comparing_t *all, const rkb_run_series_t *run) {
   json_t *value = json_pack("{s:s, s:s, s:s, s:I}", "directory", run->directory, "arm", run->arm, "subject",
                             run->subject, "seed", (json_int_t)run->seed);
   json_t *curves = json_object();
   for (int measure = 0; measure < MEASURES; measure++)
      json_object_set_new(value, measure_names[measure], rkb_number_json(measure_of(all, run, (enum measure)measure)));
   for (int over = 0; over < RKB_SPENDINGS; over++)
      if (all->spent[over])
         json_object_set_new(curves, rkb_spending_names[over], rkb_steps_json(&run->best[over]));
   json_object_set_new(value, "curves", curves);
   return value;
}

static json_t *names_json(char *const *names, uint32_t count) {
   json_t *list = json_array();
   for (uint32_t i = 0; i < count; i++)
      json_array_append_new(list, json_string(names[i]));
   return list;
}

static json_t *methods_json(void) {
   return json_pack(
      "{s:s, s:s, s:s}", "interval",
      "95 % percentile bootstrap, 10000 resamples, drawn within each subject; none for fewer than 3 values",
      "test",
      "Wilcoxon signed-rank test of the logarithms of the ratios, two-sided, paired by subject and seed; a run that found "
      "nothing loses by more than any other",
      "correction", "Holm, over all arms that are compared");
}

/* Finds for each subject the best value and the largest spending of its runs. */
static void measure_subjects(comparing_t *all) {
   for (int over = 0; over < RKB_SPENDINGS; over++) {
      all->spent[over] = true;
      for (uint32_t i = 0; i < all->runs->count; i++)
         all->spent[over] = all->spent[over] && !isnan(all->runs->list[i].total[over]);
   }
   for (uint32_t i = 0; i < all->runs->subject_count; i++)
      all->best[i] = NAN;
   for (uint32_t i = 0; i < all->runs->count; i++) {
      const rkb_run_series_t *run = &all->runs->list[i];
      const uint32_t subject = subject_of(all, run);
      all->best[subject] = fmin(all->best[subject], run->value); /* fmin prefers a number to NaN */
      for (int over = 0; over < RKB_SPENDINGS; over++)
         all->end[over][subject] = fmax(all->end[over][subject], run->total[over]);
   }
   /* Spending on models counts only if some run asked a model, which most runs do not. */
   for (int over = RKB_OVER_CALLS; over <= RKB_OVER_DOLLARS; over++) {
      double spent = 0;
      for (uint32_t i = 0; i < all->runs->subject_count; i++)
         spent += all->end[over][i];
      all->spent[over] = all->spent[over] && spent > 0;
   }
}

static int no_such_arm(const rkb_compared_runs_t *runs, const char *name, rkb_error_t *err) {
   const char **names = rkb_allocate(runs->arm_count + 1, sizeof *names);
   rkb_text_t list;
   rkb_text_init(&list, 300);
   for (uint32_t i = 0; i < runs->arm_count; i++) {
      names[i] = runs->arms[i];
      rkb_text_format(&list, "%s%s", i ? ", " : "", runs->arms[i]);
   }
   const char *near = rkb_nearest(name, names);
   int status =
      near ? rkb_fail(err, RKB_ERR_INVALID, "no arm is called '%.60s'; did you mean '%.80s'?", name, near)
           : rkb_fail(err, RKB_ERR_INVALID, "no arm is called '%.60s'; there are %s", name,
                      rkb_text_get(&list));
   rkb_text_free(&list);
   free(names);
   return status;
}

int rkb_comparison_make(const rkb_compared_runs_t *runs, const char *baseline, json_t **comparison,
                        rkb_error_t *err) {
   comparing_t all = {.runs = runs};
   all.baseline = baseline ? rkb_compared_runs_arm(runs, baseline) : 0;
   if (all.baseline == runs->arm_count)
      return no_such_arm(runs, baseline, err);
   all.best = rkb_allocate(runs->subject_count, sizeof *all.best);
   all.values = rkb_allocate(runs->count, sizeof *all.values);
   all.strata = rkb_allocate(runs->count, sizeof *all.strata);
   for (int over = 0; over < RKB_SPENDINGS; over++)
      all.end[over] = rkb_allocate(runs->subject_count, sizeof **all.end);
   measure_subjects(&all);
   json_t *list = json_array(), *left_out = json_array();
   const char *unit = "";
   for (uint32_t i = 0; i < runs->count; i++) {
      json_array_append_new(list, run_json(&all, &runs->list[i]));
      unit = runs->list[i].unit[0] ? runs->list[i].unit : unit;
   }
   for (uint32_t i = 0; i < runs->left_out_count; i++)
      json_array_append_new(left_out, json_pack("{s:s, s:s}", "directory", runs->left_out[i].directory, "why",
                                                runs->left_out[i].why));
   *comparison = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "objective",
                           runs->list[0].objective, "unit", unit, "baseline", runs->arms[all.baseline],
                           "methods", methods_json(), "arms", names_json(runs->arms, runs->arm_count),
                           "subjects", names_json(runs->subjects, runs->subject_count), "runs", list,
                           "left_out", left_out, "summaries", summaries_json(&all), "comparisons",
                           rkb_paired_comparisons(runs, all.baseline, RKB_SPENDINGS), "equal", equal_json(&all), "curves",
                           curves_json(&all));
   for (int over = 0; over < RKB_SPENDINGS; over++)
      free(all.end[over]);
   free(all.strata);
   free(all.values);
   free(all.best);
   return *comparison ? RKB_OK : rkb_fail_memory(err, 0);
}
