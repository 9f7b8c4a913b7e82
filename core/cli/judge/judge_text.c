/* Prints the figures of judges (judge_text.h). */
#include "cli/judge/judge_text.h"

#include <stdio.h>
#include <string.h>
#include "base/units.h"

static long long int_of(const json_t *object, const char *key) {
   return (long long)json_integer_value(json_object_get(object, key));
}

/* "0.98 [0.95, 0.99]", or "-" when there was nothing to count. */
static const char *spell_share(const json_t *share, char *out, size_t size) {
   if (json_is_number(json_object_get(share, "value")))
      snprintf(out, size, "%.3f [%.3f, %.3f]", json_number_value(json_object_get(share, "value")),
               json_number_value(json_object_get(share, "low")),
               json_number_value(json_object_get(share, "high")));
   else
      snprintf(out, size, "-");
   return out;
}

static const char *spell_seconds(const json_t *seconds, char *out, size_t size) {
   if (json_is_number(seconds))
      rkb_format_duration((uint64_t)(json_number_value(seconds) * 1e9), out, size);
   else
      snprintf(out, size, "-");
   return out;
}

void rkb_judge_text_counts(const char *name, const char *part, const json_t *counts) {
   char precision[64], recall[64], refused[64], f1[16] = "-";
   if (!int_of(counts, "wrong") && !int_of(counts, "right"))
      return;
   if (json_is_number(json_object_get(counts, "f1")))
      snprintf(f1, sizeof f1, "%.3f", json_number_value(json_object_get(counts, "f1")));
   printf("  %-16s %-6s %6lld %6lld %9lld   %-21s  %-21s  %-5s  %s\n", name, part, int_of(counts, "wrong"),
          int_of(counts, "right"), int_of(counts, "undecided"),
          spell_share(json_object_get(counts, "precision"), precision, sizeof precision),
          spell_share(json_object_get(counts, "recall"), recall, sizeof recall), f1,
          spell_share(json_object_get(counts, "refused"), refused, sizeof refused));
}

void rkb_judge_text_heading(const char *first) {
   printf("\n  %-16s %-6s %6s %6s %9s   %-21s  %-21s  %-5s  %s\n", first, "part", "wrong", "right",
          "undecided", "precision", "recall", "F1", "right ones rejected");
}

static void print_judges(const json_t *judges) {
   const json_t *judge;
   size_t index;
   rkb_judge_text_heading("judge");
   json_array_foreach(judges, index, judge) {
      const char *name = json_string_value(json_object_get(judge, "judge"));
      rkb_judge_text_counts(name, "all", json_object_get(judge, "all"));
      if (int_of(json_object_get(judge, "tuned"), "wrong") +
          int_of(json_object_get(judge, "tuned"), "right")) {
         rkb_judge_text_counts("", "tuned", json_object_get(judge, "tuned"));
         rkb_judge_text_counts("", "kept", json_object_get(judge, "kept"));
      }
   }
}

static void print_costs(const json_t *judges) {
   const json_t *judge;
   size_t index;
   char median[32], p90[32];
   printf("\n  %-16s %12s %12s %12s %14s\n", "judge", "median time", "90 %", "USD", "USD a verdict");
   json_array_foreach(judges, index, judge) {
      const json_t *all = json_object_get(judge, "all");
      const long long asked = int_of(all, "wrong") + int_of(all, "right");
      const double worth = json_number_value(json_object_get(judge, "worth_usd"));
      printf("  %-16s %12s %12s %12.4f %14.6f\n", json_string_value(json_object_get(judge, "judge")),
             spell_seconds(json_object_get(judge, "median_s"), median, sizeof median),
             spell_seconds(json_object_get(judge, "p90_s"), p90, sizeof p90), worth,
             asked ? worth / (double)asked : 0);
   }
}

static void print_only(const json_t *rows) {
   const char *row_name, *column_name;
   json_t *row, *count;
   if (json_object_size(rows) < 2)
      return;
   printf(
      "\n  wrong kernels that one judge rejects and another does not, of those that both were asked about\n");
   json_object_foreach((json_t *)rows, row_name, row) {
      json_object_foreach(row, column_name, count) {
         if (json_integer_value(count))
            printf("  %6lld  %s, not %s\n", (long long)json_integer_value(count), row_name, column_name);
      }
   }
}

static void print_kinds(const json_t *kinds, const json_t *judges) {
   const char *name;
   json_t *kind;
   const json_t *judge;
   size_t index;
   if (!json_object_size(kinds))
      return;
   printf("\n  wrong kernels by kind, and how many each judge rejects\n  %-16s %7s", "kind", "kernels");
   json_array_foreach(judges, index, judge)
      printf(" %*s", (int)strlen(json_string_value(json_object_get(judge, "judge"))),
             json_string_value(json_object_get(judge, "judge")));
   printf("\n");
   json_object_foreach((json_t *)kinds, name, kind) {
      printf("  %-16s %7lld", name, int_of(kind, "kernels"));
      json_array_foreach(judges, index, judge) {
         const char *column = json_string_value(json_object_get(judge, "judge"));
         printf(" %*lld", (int)strlen(column), int_of(json_object_get(kind, "rejected"), column));
      }
      printf("\n");
   }
}

static void print_calibration(const json_t *judges) {
   const json_t *judge, *bin;
   size_t index, number;
   char right[64];
   json_array_foreach(judges, index, judge) {
      const json_t *bins = json_object_get(judge, "calibration");
      if (!json_array_size(bins))
         continue;
      printf("\n  calibration of %s: its confidence that a kernel is right, and how many were\n",
             json_string_value(json_object_get(judge, "judge")));
      json_array_foreach(bins, number, bin)
         printf("  %.1f to %.1f  %6lld kernels  %s\n", json_number_value(json_object_get(bin, "from")),
                json_number_value(json_object_get(bin, "to")), int_of(bin, "kernels"),
                spell_share(json_object_get(bin, "right"), right, sizeof right));
   }
}

void rkb_judge_text_print(const json_t *figures) {
   const json_t *judges = json_object_get(figures, "judges");
   printf("%lld of %lld kernels judged: %lld wrong, %lld right; shares with 95 %% intervals\n",
          int_of(figures, "judged"), int_of(figures, "kernels"), int_of(figures, "wrong"),
          int_of(figures, "right"));
   print_judges(judges);
   print_costs(judges);
   print_only(json_object_get(figures, "only"));
   print_kinds(json_object_get(figures, "kinds"), judges);
   print_calibration(judges);
}
