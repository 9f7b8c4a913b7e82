/* Prints a comparison as CSV (RFC 4180), with one row per number, so that any program can select the numbers
 * it needs.  Only the main thread. */
#include <stdio.h>
#include <string.h>
#include "cli/report/arm_comparison.h"

static void print_text(const char *text) {
   if (!strpbrk(text, ",\"\n\r")) {
      fputs(text, stdout);
      return;
   }
   putchar('"');
   for (; *text; text++)
      printf(*text == '"' ? "\"\"" : "%c", *text);
   putchar('"');
}

static void print_number(const json_t *number) {
   putchar(',');
   if (json_is_number(number))
      printf("%.17g", json_number_value(number));
}

/* what, arm, subject, seed, measure, statistic, estimate, low, high */
static void print_row(const char *what, const char *arm, const char *subject, const json_t *seed,
                      const char *measure, const char *statistic, const json_t *estimate, const json_t *low,
                      const json_t *high) {
   const char *const texts[] = {arm, subject ? subject : ""};
   printf("%s", what);
   for (size_t i = 0; i < 2; i++) {
      putchar(',');
      print_text(texts[i]);
   }
   putchar(',');
   if (seed)
      printf("%lld", (long long)json_integer_value(seed));
   printf(",%s,%s", measure, statistic);
   print_number(estimate);
   print_number(low);
   print_number(high);
   putchar('\n');
}

static void print_interval(const char *what, const char *arm, const char *subject, const char *measure,
                           const char *statistic, const json_t *interval) {
   print_row(what, arm, subject, NULL, measure, statistic, json_object_get(interval, "estimate"),
             json_object_get(interval, "low"), json_object_get(interval, "high"));
}

static const char *const measures[] = {"value", "share", "gain", "evaluations", "seconds", "calls", "usd"};
enum { MEASURES = sizeof measures / sizeof *measures };

static void print_runs(const json_t *comparison) {
   const json_t *run;
   size_t index;
   json_array_foreach(json_object_get(comparison, "runs"), index, run) for (int i = 0; i < MEASURES; i++)
      print_row("run", json_string_value(json_object_get(run, "arm")),
                json_string_value(json_object_get(run, "subject")), json_object_get(run, "seed"), measures[i],
                "", json_object_get(run, measures[i]), NULL, NULL);
}

static void print_summaries(const json_t *comparison) {
   const json_t *summary;
   size_t index;
   json_array_foreach(json_object_get(comparison, "summaries"), index, summary) {
      const char *arm = json_string_value(json_object_get(summary, "arm"));
      const char *subject = json_string_value(json_object_get(summary, "subject"));
      print_row("summary", arm, subject, NULL, "runs", "count", json_object_get(summary, "runs"), NULL, NULL);
      print_row("summary", arm, subject, NULL, "found", "count", json_object_get(summary, "found"), NULL,
                NULL);
      for (int i = 0; i < MEASURES; i++) {
         const json_t *measure = json_object_get(summary, measures[i]);
         if (!measure)
            continue;
         print_interval("summary", arm, subject, measures[i], "median", json_object_get(measure, "median"));
         print_interval("summary", arm, subject, measures[i], "mean", json_object_get(measure, "mean"));
      }
   }
}

/* what: "comparison", or "at equal calls" and so on. */
static void print_comparisons(const json_t *list, const char *what) {
   static const char *const counts[] = {"pairs", "better", "same", "worse", "p", "p_holm"};
   const json_t *one;
   size_t index;
   json_array_foreach(list, index, one) {
      const char *arm = json_string_value(json_object_get(one, "arm"));
      print_interval(what, arm, NULL, "ratio", "geomean", json_object_get(one, "ratio"));
      for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
         print_row(what, arm, NULL, NULL, counts[i], "", json_object_get(one, counts[i]), NULL, NULL);
   }
}

static void print_equal(const json_t *comparison) {
   const json_t *equal;
   size_t index;
   json_array_foreach(json_object_get(comparison, "equal"), index, equal) {
      char what[64];
      snprintf(what, sizeof what, "at equal %s", json_string_value(json_object_get(equal, "over")));
      print_comparisons(json_object_get(equal, "comparisons"), what);
   }
}

static void print_curves(const json_t *comparison) {
   const json_t *curve, *arm, *share;
   size_t index, at, point;
   json_array_foreach(json_object_get(comparison, "curves"), index, curve) {
      const char *over = json_string_value(json_object_get(curve, "over"));
      json_array_foreach(json_object_get(curve, "arms"), at, arm) {
         const char *name = json_string_value(json_object_get(arm, "arm"));
         json_array_foreach(json_object_get(arm, "share"), point, share) {
            char part[32];
            snprintf(part, sizeof part, "at %g",
                     json_number_value(json_array_get(json_object_get(curve, "points"), point)));
            print_row("curve", name, NULL, NULL, over, part, share, NULL, NULL);
         }
         print_interval("curve", name, NULL, over, "area", json_object_get(arm, "area"));
      }
   }
}

void rkb_comparison_print_csv(const json_t *comparison) {
   printf("what,arm,subject,seed,measure,statistic,estimate,low,high\n");
   print_runs(comparison);
   print_summaries(comparison);
   print_comparisons(json_object_get(comparison, "comparisons"), "comparison");
   print_equal(comparison);
   print_curves(comparison);
}
