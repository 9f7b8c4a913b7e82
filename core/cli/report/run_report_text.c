/* Prints the report as a page of text.  Only the main thread. */
#include "cli/report/run_report.h"

#include <stdio.h>
#include <string.h>
#include "base/units.h"

static const char *text_of(const json_t *object, const char *key) {
   const char *text = json_string_value(json_object_get(object, key));
   return text ? text : "";
}

static long long int_of(const json_t *object, const char *key) {
   return (long long)json_integer_value(json_object_get(object, key));
}

static double real_of(const json_t *object, const char *key) {
   return json_number_value(json_object_get(object, key));
}

static const char *spell_seconds(double seconds, char *out, size_t size) {
   rkb_format_duration((uint64_t)(seconds * 1e9), out, size);
   return out;
}

/* Spells how the run ended.  The fact "ended" holds a word for programs; "ended_because" holds the sentence
 * with which rkb-run ended. */
static const char *spell_ending(const char *ended) {
   static const char *const words[][2] = {{"done", "ended: the search had no more to ask"},
                                          {"limit", "ended: a limit was reached"},
                                          {"stuck", "ended: the search waited for itself"},
                                          {"wall", "cut short by limits.wall"},
                                          {"cost", "cut short by limits.cost_usd"},
                                          {"interrupted", "interrupted"},
                                          {"broken", "stopped by a failure; --resume can continue it"}};
   for (size_t i = 0; i < sizeof words / sizeof *words; i++)
      if (strcmp(words[i][0], ended) == 0)
         return words[i][1];
   return ended[0] ? ended : "still running, or killed";
}

static void print_head(const json_t *report) {
   const json_t *run = json_object_get(report, "run"), *counts = json_object_get(report, "counts"),
                *duplicates = json_object_get(report, "duplicates"), *cost = json_object_get(report, "cost");
   printf("%s", text_of(run, "name"));
   if (text_of(run, "task")[0])
      printf(": %s %s", text_of(run, "task"), text_of(run, "direction"));
   if (text_of(run, "target")[0])
      printf(" on %s", text_of(run, "target"));
   const bool of_itself =
      strcmp(text_of(run, "ended"), "done") == 0 || strcmp(text_of(run, "ended"), "limit") == 0;
   const char *because = of_itself ? text_of(run, "ended_because") : "";
   printf("; seed %s; %s%s", text_of(run, "seed"), because[0] ? "ended: " : "",
          because[0] ? because : spell_ending(text_of(run, "ended")));
   if (json_is_number(json_object_get(report, "elapsed"))) {
      char elapsed[32];
      printf("%s %s", because[0] ? "; took" : " after",
             spell_seconds(real_of(report, "elapsed"), elapsed, sizeof elapsed));
   }
   printf("\n");
   if (text_of(run, "skipped_stages")[0])
      printf("left out by --skip-stage since it was resumed: %s\n", text_of(run, "skipped_stages"));
   printf(
      "%lld requests gave %lld candidates and %lld duplicates: %lld accepted, %lld suspect, %lld unknown, %lld rejected",
      int_of(counts, "requests"), int_of(counts, "candidates"),
      int_of(duplicates, "before_build") + int_of(duplicates, "after_build"), int_of(counts, "accept"),
      int_of(counts, "suspect"), int_of(counts, "unknown"), int_of(counts, "reject"));
   if (int_of(counts, "none") > 0)
      printf(", %lld not finished", int_of(counts, "none"));
   if (int_of(counts, "promoted") > 0)
      printf(", %lld promoted", int_of(counts, "promoted"));
   printf("\n");
   if (!cost)
      return;
   printf("%lld calls of language models, %.4f USD", int_of(cost, "calls"), real_of(cost, "usd"));
   if (real_of(cost, "estimated_usd") > 0)
      printf(
         " (%.4f of them by our own count, an upper bound: the servers reported no usable count of tokens)",
         real_of(cost, "estimated_usd"));
   printf("\n");
}

static void print_best(const json_t *report) {
   const json_t *best = json_object_get(report, "best"), *run = json_object_get(report, "run");
   if (!json_is_object(best)) {
      printf("\nbest: none; no accepted candidate has the objective's measurement\n");
      return;
   }
   const char *unit = text_of(report, "unit");
   printf("\nbest: candidate %lld, %s = %.6g%s%s", int_of(best, "number"), text_of(run, "objective"),
          real_of(best, "value"), unit[0] ? " " : "", unit);
   if (real_of(best, "gain") > 1 && real_of(best, "gain") < 1.005)
      printf("; the best first candidate is as good (%.6g)", real_of(best, "first"));
   else if (real_of(best, "gain") > 1)
      printf(", a gain of x%.3f over the best first candidate (%.6g)", real_of(best, "gain"),
             real_of(best, "first"));
   else
      printf(": a first candidate; nothing better was found");
   printf("%s\n",
          json_is_true(json_object_get(best, "verified_by_execution")) ? "" : "; not verified by execution");
   if (text_of(best, "limiter")[0])
      printf("      limited by %s\n", text_of(best, "limiter"));
}

/* Prints the steps: what each one changed, its effect, and what limits the candidate after it. */
static void print_lineage(const json_t *report) {
   size_t index;
   const json_t *step, *steps = json_object_get(report, "lineage");
   if (json_array_size(steps) == 0)
      return;
   printf("\nhow the best came about\n");
   printf("  %6s %12s %8s  %s\n", "number", "value", "gain", "step");
   json_array_foreach(steps, index, step) {
      char gain[24] = "", partner[48] = "";
      if (json_object_get(step, "gain"))
         snprintf(gain, sizeof gain, "x%.3f", real_of(step, "gain"));
      if (json_is_integer(json_object_get(step, "partner")))
         snprintf(partner, sizeof partner, " with candidate %lld", int_of(step, "partner"));
      if (json_is_number(json_object_get(step, "value")))
         printf("  %6lld %12.6g %8s  %s%s%s%s\n", int_of(step, "number"), real_of(step, "value"), gain,
                text_of(step, "operator"), partner, text_of(step, "note")[0] ? ": " : "",
                text_of(step, "note"));
      else
         printf("  %6lld %12s %8s  %s%s%s%s\n", int_of(step, "number"), text_of(step, "standing"), gain,
                text_of(step, "operator"), partner, text_of(step, "note")[0] ? ": " : "",
                text_of(step, "note"));
      if (text_of(step, "limiter")[0])
         printf("  %6s %12s %8s  limited by %s\n", "", "", "", text_of(step, "limiter"));
   }
}

static void print_progress(const json_t *report) {
   size_t index;
   const json_t *entry;
   if (json_array_size(json_object_get(report, "progress")) == 0)
      return;
   printf("\nbest so far\n  %6s %10s %12s %8s  %s\n", "number", "after", "value", "gain", "made by");
   json_array_foreach(json_object_get(report, "progress"), index, entry) {
      char gain[24], after[32] = "-"; /* in a run in progress the last values are not stored yet */
      snprintf(gain, sizeof gain, "x%.3f", real_of(entry, "gain"));
      if (json_object_get(entry, "elapsed"))
         spell_seconds(real_of(entry, "elapsed"), after, sizeof after);
      printf("  %6lld %10s %12.6g %8s  %s%s%s\n", int_of(entry, "number"), after, real_of(entry, "value"),
             gain, text_of(entry, "operator"), text_of(entry, "note")[0] ? ": " : "", text_of(entry, "note"));
   }
}

static void print_reasons(const json_t *stage) {
   const char *reason;
   json_t *number;
   json_object_foreach((json_t *)json_object_get(stage, "reasons"), reason, number)
      printf("  %14s %8s %8lld  %s\n", "", "", (long long)json_integer_value(number), reason);
}

/* Counts of verdicts, or dashes for a stage that gives none. */
static void print_verdicts(const json_t *stage) {
   static const char *const standings[] = {"accept", "suspect", "unknown", "reject"};
   const bool judges = json_is_true(json_object_get(stage, "verdicts"));
   for (size_t i = 0; i < sizeof standings / sizeof *standings; i++) {
      if (judges)
         printf(" %8lld", int_of(stage, standings[i]));
      else
         printf(" %8s", "-");
   }
}

/* Prints how many of the proposed candidates were known already, and how far the others came. */
static void print_proposed(const json_t *report) {
   const json_t *counts = json_object_get(report, "counts"),
                *duplicates = json_object_get(report, "duplicates");
   const long long before = int_of(duplicates, "before_build"), after = int_of(duplicates, "after_build"),
                   candidates = int_of(counts, "candidates");
   printf("\nfunnel\n  %lld proposed", before + after + candidates);
   if (before + after > 0)
      printf(", %lld of them duplicates by their text, %lld by what they compile to", before, after);
   printf(": %lld candidates\n", candidates);
}

/* Prints one row per stage: how many of the candidates that entered it went on, and why the others did not. */
static void print_funnel(const json_t *report) {
   size_t index;
   const json_t *stage;
   print_proposed(report);
   printf("  %-14s %8s %8s %8s %8s %8s   %10s %10s %10s\n", "stage", "entered", "accept", "suspect",
          "unknown", "reject", "time", "mean", "longest");
   json_array_foreach(json_object_get(report, "stages"), index, stage) {
      const json_t *seconds = json_object_get(stage, "seconds");
      char total[32] = "", mean[32] = "", longest[32] = "";
      if (seconds) {
         spell_seconds(real_of(seconds, "total"), total, sizeof total);
         spell_seconds(real_of(seconds, "mean"), mean, sizeof mean);
         spell_seconds(real_of(seconds, "longest"), longest, sizeof longest);
      }
      printf("  %-14s %8lld", text_of(stage, "id"), int_of(stage, "entered"));
      print_verdicts(stage);
      printf("   %10s %10s %10s%s\n", total, mean, longest,
             json_is_true(json_object_get(stage, "shadow")) ? "  (shadow)" : "");
      print_reasons(stage);
   }
}

static void print_operators(const json_t *report) {
   size_t index;
   const json_t *entry, *search = json_object_get(report, "search");
   printf("\noperators\n  %-14s %8s %8s %8s %8s %8s %8s %9s %8s %8s %10s\n", "made by", "requests", "made",
          "again", "reject", "accept", "better", "best gain", "new best", "failed", "time");
   json_array_foreach(json_object_get(report, "operators"), index, entry) {
      char gain[24] = "-", time[32] = "";
      if (json_object_get(entry, "seconds"))
         spell_seconds(real_of(json_object_get(entry, "seconds"), "total"), time, sizeof time);
      if (json_object_get(entry, "best_gain"))
         snprintf(gain, sizeof gain, "x%.3f", real_of(entry, "best_gain"));
      printf("  %-14s %8lld %8lld %8lld %8lld %8lld %8lld %9s %8lld %8lld %10s\n", text_of(entry, "id"),
             int_of(entry, "requests"), int_of(entry, "made"), int_of(entry, "duplicates"),
             int_of(entry, "reject"), int_of(entry, "accept"), int_of(entry, "bettered_parent"), gain,
             int_of(entry, "new_best"), int_of(entry, "failed"), time);
      if (text_of(entry, "failure")[0])
         printf("  %14s last failure: %s\n", "", text_of(entry, "failure"));
   }
   printf(
      "  again: duplicates; better: faster than the better parent; new best: best of the run when it came\n");
   if (json_object_get(search, "seconds")) {
      const json_t *seconds = json_object_get(search, "seconds");
      char time[32];
      printf("  the search (%s) was asked and told %lld times, which took %s\n", text_of(search, "id"),
             int_of(seconds, "jobs"), spell_seconds(real_of(seconds, "total"), time, sizeof time));
   }
}

static void print_duplicates(const json_t *report) {
   size_t index;
   const json_t *entry, *originals = json_object_get(json_object_get(report, "duplicates"), "originals");
   if (json_array_size(originals) == 0)
      return;
   printf("\nmost often proposed again:");
   json_array_foreach(originals, index, entry) {
      const long long copies = int_of(entry, "copies");
      printf("%s candidate %lld (%lld %s)", index ? "," : "", int_of(entry, "number"), copies,
             copies == 1 ? "time" : "times");
   }
   printf("\n");
}

void rkb_report_print(const json_t *report) {
   print_head(report);
   print_best(report);
   print_lineage(report);
   print_progress(report);
   print_funnel(report);
   print_operators(report);
   print_duplicates(report);
}
