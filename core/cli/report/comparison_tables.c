/* Prints a comparison as tables, for people and for LaTeX; both have the same numbers.  Only the main thread. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "cli/report/arm_comparison.h"
#include "cli/report/text_table.h"

typedef void (*print_table_t)(rkb_text_table_t *table);

static const char *text_of(const json_t *object, const char *key) {
   const char *text = json_string_value(json_object_get(object, key));
   return text ? text : "";
}

static int int_of(const json_t *object, const char *key) {
   return (int)json_integer_value(json_object_get(object, key));
}

/* "14.6 [14.2, 15.0]", without brackets when there is no interval, "-" when there is no value. */
static void add_interval(rkb_text_table_t *table, const json_t *interval, const char *mark) {
   const json_t *estimate = json_object_get(interval, "estimate"), *low = json_object_get(interval, "low"),
                *high = json_object_get(interval, "high");
   if (!json_is_number(estimate))
      rkb_text_table_add(table, "-");
   else if (!json_is_number(low) || !json_is_number(high))
      rkb_text_table_add(table, "%s%.4g", mark, json_number_value(estimate));
   else
      rkb_text_table_add(table, "%s%.4g [%.4g, %.4g]", mark, json_number_value(estimate),
                         json_number_value(low), json_number_value(high));
}

static void add_number(rkb_text_table_t *table, const json_t *number, const char *fmt) {
   char text[32];
   if (json_is_number(number)) {
      snprintf(text, sizeof text, fmt, json_number_value(number));
      rkb_text_table_add(table, "%s", text);
   } else {
      rkb_text_table_add(table, "-");
   }
}

static const json_t *estimate_of(const json_t *summary, const char *measure, const char *statistic) {
   return json_object_get(json_object_get(json_object_get(summary, measure), statistic), "estimate");
}

/* Prints one table for a subject, or for all subjects together (NULL). */
static void print_summaries(const json_t *comparison, const char *subject, print_table_t print) {
   static const char *const whole[] = {"arm",         "runs",         "found",      "share, median",
                                       "share, mean", "gain, median", "gain, mean", "evaluations",
                                       "seconds",     "USD"};
   static const char *const one[] = {"arm",         "runs",        "found",      "value, median",
                                     "value, mean", "share, mean", "gain, mean", "evaluations",
                                     "seconds",     "USD"};
   const bool single = json_array_size(json_object_get(comparison, "subjects")) == 1;
   const bool values = subject || single;
   const json_t *summary;
   rkb_text_table_t table;
   size_t index;
   char title[300];
   snprintf(title, sizeof title, "%s%s%s",
            subject  ? subject
            : single ? json_string_value(json_array_get(json_object_get(comparison, "subjects"), 0))
                     : "all subjects together",
            values ? "; value: " : "", values ? text_of(comparison, "objective") : "");
   if (values && text_of(comparison, "unit")[0])
      snprintf(title + strlen(title), sizeof title - strlen(title), " in %s", text_of(comparison, "unit"));
   rkb_text_table_begin(&table, title, sizeof one / sizeof *one, values ? one : whole);
   json_array_foreach(json_object_get(comparison, "summaries"), index, summary) {
      const char *on = json_string_value(json_object_get(summary, "subject"));
      const json_t *value = json_object_get(summary, "value"), *share = json_object_get(summary, "share"),
                   *gain = json_object_get(summary, "gain");
      if ((on == NULL) != (subject == NULL) || (on && strcmp(on, subject) != 0))
         continue;
      rkb_text_table_add(&table, "%s", text_of(summary, "arm"));
      rkb_text_table_add(&table, "%d", int_of(summary, "runs"));
      rkb_text_table_add(&table, "%d", int_of(summary, "found"));
      add_interval(&table, json_object_get(values ? value : share, "median"), "");
      add_interval(&table, json_object_get(values ? value : share, "mean"), "");
      add_interval(&table, values ? json_object_get(share, "mean") : json_object_get(gain, "median"),
                   values ? "" : "x");
      add_interval(&table, json_object_get(gain, "mean"), "x");
      add_number(&table, estimate_of(summary, "evaluations", "mean"), "%.0f");
      add_number(&table, estimate_of(summary, "seconds", "mean"), "%.1f");
      add_number(&table, estimate_of(summary, "usd", "mean"), "%.4f");
   }
   print(&table);
}

/* over: the spending at which the pairs were cut, or NULL for whole runs. */
static void print_comparisons(const json_t *list, const char *baseline, const char *over, print_table_t print) {
   static const char *const headings[] = {"arm", "pairs", "ratio", "better", "same", "worse", "p", "p (Holm)", "budget"};
   const json_t *one;
   rkb_text_table_t table;
   size_t index;
   char title[300];
   if (json_array_size(list) == 0)
      return;
   if (over)
      snprintf(title, sizeof title, "against %s at equal %s: each pair cut where the one that used less ended", baseline,
               over);
   else
      snprintf(title, sizeof title,
               "against %s; ratio: its value / the arm's, geometric mean, above 1 where the arm is better", baseline);
   rkb_text_table_begin(&table, title, over ? 9 : 8, headings);
   json_array_foreach(list, index, one) {
      const json_t *budget = json_object_get(one, "budget");
      rkb_text_table_add(&table, "%s", text_of(one, "arm"));
      rkb_text_table_add(&table, "%d", int_of(one, "pairs"));
      add_interval(&table, json_object_get(one, "ratio"), "x");
      rkb_text_table_add(&table, "%d", int_of(one, "better"));
      rkb_text_table_add(&table, "%d", int_of(one, "same"));
      rkb_text_table_add(&table, "%d", int_of(one, "worse"));
      add_number(&table, json_object_get(one, "p"), "%.4f");
      add_number(&table, json_object_get(one, "p_holm"), "%.4f");
      if (budget && json_is_number(json_object_get(budget, "least")))
         rkb_text_table_add(&table, "%.4g to %.4g", json_number_value(json_object_get(budget, "least")),
                            json_number_value(json_object_get(budget, "most")));
      else if (budget)
         rkb_text_table_add(&table, "-");
   }
   print(&table);
}

/* "dollars" */
static const char *spent_name(const json_t *over) {
   return strcmp(text_of(over, "over"), "usd") == 0 ? "dollars" : text_of(over, "over");
}

static void print_curve(const json_t *curve, print_table_t print) {
   const json_t *points = json_object_get(curve, "points"), *arm, *part;
   char titles[16][16] = {"arm"}, title[200];
   const char *headings[16];
   uint32_t columns = 1;
   rkb_text_table_t table;
   size_t index, at;
   json_array_foreach(points, at, part) if (columns < 15)
      snprintf(titles[columns++], sizeof titles[0], "%.0f %%", 100 * json_number_value(part));
   snprintf(titles[columns++], sizeof titles[0], "area");
   for (uint32_t i = 0; i < columns; i++)
      headings[i] = titles[i];
   snprintf(title, sizeof title, "share of the best known value after a part of the longest run's %s",
            spent_name(curve));
   rkb_text_table_begin(&table, title, columns, headings);
   json_array_foreach(json_object_get(curve, "arms"), index, arm) {
      rkb_text_table_add(&table, "%s", text_of(arm, "arm"));
      json_array_foreach(json_object_get(arm, "share"), at, part) add_number(&table, part, "%.3f");
      add_interval(&table, json_object_get(arm, "area"), "");
   }
   print(&table);
}

static void print_tables(const json_t *comparison, print_table_t print) {
   const json_t *subjects = json_object_get(comparison, "subjects"), *subject, *curve, *equal;
   size_t index;
   if (json_array_size(subjects) > 1)
      json_array_foreach(subjects, index, subject)
         print_summaries(comparison, json_string_value(subject), print);
   print_summaries(comparison, NULL, print);
   print_comparisons(json_object_get(comparison, "comparisons"), text_of(comparison, "baseline"), NULL, print);
   json_array_foreach(json_object_get(comparison, "equal"), index, equal)
      print_comparisons(json_object_get(equal, "comparisons"), text_of(comparison, "baseline"), spent_name(equal), print);
   json_array_foreach(json_object_get(comparison, "curves"), index, curve) print_curve(curve, print);
}

/* Prints what the numbers mean and what they cannot show. */
static void print_notes(const json_t *comparison, const char *before) {
   const json_t *methods = json_object_get(comparison, "methods"), *one;
   size_t index;
   printf("\n%sshare: best value that any run found on the subject / the run's value; 0 when it found none\n",
          before);
   printf("%sintervals: %s\n", before, text_of(methods, "interval"));
   if (json_array_size(json_object_get(comparison, "comparisons")) > 0)
      printf("%stest: %s; correction: %s\n", before, text_of(methods, "test"),
             text_of(methods, "correction"));
   json_array_foreach(json_object_get(comparison, "comparisons"), index, one) {
      const json_t *least = json_object_get(one, "least_p");
      if (json_is_number(json_object_get(one, "p")) && json_number_value(least) > 0.05)
         printf("%s%s: so few pairs that differ cannot give a p below %.4g; use more seeds\n", before,
                text_of(one, "arm"), json_number_value(least));
      if (!json_is_true(json_object_get(one, "exact")))
         printf("%s%s: p by the normal approximation\n", before, text_of(one, "arm"));
      if (int_of(one, "unmatched") > 0)
         printf("%s%s: %d runs have no partner with the same subject and seed\n", before, text_of(one, "arm"),
                int_of(one, "unmatched"));
   }
   json_array_foreach(json_object_get(comparison, "left_out"), index, one)
      printf("%sleft out: %s: %s\n", before, text_of(one, "directory"), text_of(one, "why"));
}

void rkb_comparison_print(const json_t *comparison) {
   printf("runs: %zu, arms: %zu, subjects: %zu; a lower %s is better\n",
          json_array_size(json_object_get(comparison, "runs")),
          json_array_size(json_object_get(comparison, "arms")),
          json_array_size(json_object_get(comparison, "subjects")), text_of(comparison, "objective"));
   print_tables(comparison, rkb_text_table_print);
   print_notes(comparison, "");
}

void rkb_comparison_print_latex(const json_t *comparison) {
   print_tables(comparison, rkb_text_table_print_latex);
   print_notes(comparison, "% ");
}
