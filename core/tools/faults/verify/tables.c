/* See tables.h. */
#include "tools/faults/verify/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"

/* Wilson's score interval, 95 % (Wilson 1927). */
static void wilson(uint32_t hits, uint32_t of, double *low, double *high) {
   const double z = 1.959964, n = of, p = of ? hits / n : 0;
   double middle = of ? (p + z * z / (2 * n)) / (1 + z * z / n) : 0;
   double half = of ? z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n) : 0;
   *low = middle - half;
   *high = middle + half;
}

typedef struct tally {
   uint32_t of, right, other, suspect, accepted, unknown;
   double seconds;
} tally_t;

static bool permitted(const subject_t *subject) {
   const char *at = strstr(subject->fault->operator_of->reasons, subject->reason);
   size_t length = strlen(subject->reason);
   return at && (at[length] == ' ' || at[length] == '\0');
}

/* Whether the compiler did not finish the text, so that nothing judged it. */
static bool is_unbuilt(const subject_t *subject) {
   return strcmp(subject->reason, "tool.compile_time") == 0 ||
          strcmp(subject->reason, "tool.compile_memory") == 0 ||
          strcmp(subject->reason, "tool.compiler_crash") == 0 ||
          (strcmp(subject->standing, "reject") == 0 && strncmp(subject->reason, "build.", 6) == 0);
}

static void count(tally_t *t, const subject_t *subject) {
   t->of++;
   t->seconds += subject->seconds;
   if (strcmp(subject->standing, "reject") == 0)
      (*(permitted(subject) ? &t->right : &t->other))++;
   else if (strcmp(subject->standing, "suspect") == 0)
      t->suspect++;
   else if (strcmp(subject->standing, "accept") == 0)
      t->accepted++;
   else
      t->unknown++;
}

static void print_row(const char *name, const tally_t *t) {
   double low, high;
   uint32_t rejected = t->right + t->other;
   if (!t->of)
      return;
   wilson(rejected, t->of, &low, &high);
   printf("%-27s %5u %6u %6u %8u %9u %8u   %6.2f %% (%6.2f to %6.2f)  %8.3f s\n", name, t->of, t->right,
          t->other, t->suspect, t->accepted, t->unknown, 100.0 * rejected / t->of, 100 * low, 100 * high,
          t->seconds / t->of);
}

void tables_print(const bench_t *b, bool kept_out) {
   tally_t all = {0}, order = {0};
   uint32_t unbuilt = 0;
   printf("%s\n%-27s %5s %6s %6s %8s %9s %8s   %s\n", kept_out ? "Kept out of tuning" : "Tuned", "operator",
          "of", "right", "other", "suspect", "accepted", "unknown", "rejected (95 %), mean seconds");
   for (uint32_t o = 0; o < fault_operator_count; o++) {
      tally_t one = {0};
      for (uint32_t i = 0; i < b->count; i++) {
         const subject_t *subject = &b->list[i];
         if (!subject->done || subject->fault->operator_of != &fault_operators[o] ||
             subject->fault->kept_out != kept_out)
            continue;
         if (is_unbuilt(subject)) {
            unbuilt++;
            continue;
         }
         count(&one, subject);
         count(&all, subject);
         if (fault_operators[o].kind != FAULT_VALUE)
            count(&order, subject);
      }
      print_row(fault_operators[o].name, &one);
   }
   print_row("memory, race and barrier", &order);
   print_row("all", &all);
   if (unbuilt)
      printf("%u more were not judged: the compiler gave up on them\n", unbuilt);
   printf("\n");
}

void tables_print_kernels(const bench_t *b) {
   uint32_t done = 0, accepted = 0;
   double seconds = 0;
   for (uint32_t i = 0; i < b->count; i++) {
      done += b->list[i].done;
      accepted += b->list[i].done && strcmp(b->list[i].standing, "accept") == 0;
      seconds += b->list[i].seconds;
   }
   printf("%u of %u %s of %u correct kernels accepted, %.3f s each\n", accepted, b->count,
          b->settings.every_tune ? "settings" : "texts", b->corpus.kernel_count, done ? seconds / done : 0);
}

static bool is_listed(const char *list, const char *id) {
   size_t length = strlen(id);
   for (const char *at = list; at && (at = strstr(at, id)) != NULL; at += length)
      if ((at == list || at[-1] == '\n') && (at[length] == '\n' || at[length] == '\0'))
         return true;
   return false;
}

/* Names the subjects that ended their process; true when there were any. */
bool tables_print_crashes(const bench_t *b) {
   bool any = false;
   for (uint32_t i = 0; i < b->count; i++)
      if (b->list[i].done && strcmp(b->list[i].standing, VERIFY_CRASH) == 0) {
         printf("%s: crash %s\n", b->list[i].id, b->list[i].reason);
         any = true;
      }
   return any;
}

/* Counts two kinds of failures: a fault that is neither rejected nor in the list of misses, and a fault in the list that is rejected. */
int tables_compare_misses(const bench_t *b, rkb_error_t *err) {
   char *list = NULL;
   size_t length;
   uint32_t failures = 0;
   int status = b->settings.misses
                   ? rkb_file_read(b->settings.misses, VERIFY_RESULTS_BYTES, &list, &length, err)
                   : RKB_OK;
   for (uint32_t i = 0; i < b->count && status == RKB_OK; i++) {
      const subject_t *subject = &b->list[i];
      bool bad =
         subject->fault ? strcmp(subject->standing, "accept") == 0 : strcmp(subject->standing, "accept") != 0;
      if (!subject->done || bad == is_listed(list, subject->id))
         continue;
      printf("%s: %s %s%s\n", subject->id, subject->standing, subject->reason,
             bad ? "" : " (no longer missed: take it from the list)");
      failures++;
   }
   free(list);
   if (failures)
      status = rkb_fail(err, RKB_ERR_INVALID, "%u verdicts are not what they should be", failures);
   return status;
}
