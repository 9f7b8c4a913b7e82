/* rkb-bench-lint: processor time of rkb.verifier.lint on each seed kernel.  A measurement is a whole job of
 * the built plugin: manifest, tokens, every rule, the verdict.  Prints the median and the longest of many
 * jobs for each seed, and compares the slowest median with the goal. */
#include "fake.h"
#include "base/usage.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMES = 101 };
#define GOAL_MS 1.0

static int ascending(const void *left, const void *right) {
   const double a = *(const double *)left, b = *(const double *)right;
   return (a > b) - (a < b);
}

/* Returns the processor time of this thread, to which other programs add nothing. */
static double processor_ms(void) {
   struct timespec now;
   clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
   return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* Returns the median in milliseconds; *longest receives the longest time. */
static double time_one(fake_t *fake, const char *text, double *longest) {
   double times[TIMES];
   rkb_item_t *candidate = fake_candidate(fake, 1, text, "{}");
   for (int i = 0; i < TIMES; i++) {
      double began = processor_ms();
      if (fake_run(fake, candidate) != RKB_OK)
         fail_msg("%s", fake->error.message);
      times[i] = processor_ms() - began;
   }
   fake_drop(candidate);
   qsort(times, TIMES, sizeof times[0], ascending);
   *longest = times[TIMES - 1];
   return times[TIMES / 2];
}

int main(int argc, char **argv) {
   const int over = rkb_usage(
      argc, argv, 1,
      "usage: rkb-bench-lint [PATTERN]\n"
      "Processor time of rkb.verifier.lint on each seed kernel; PATTERN is below the source tree (default: tasks/*/seeds/*/*.cu).\n");
   if (over >= 0)
      return over;
   const char *pattern = argc > 1 ? argv[1] : "tasks/*/seeds/*/*.cu"; /* below the source tree */
   char below[1024];
   glob_t found;
   fake_t fake;
   double slowest = 0;
   snprintf(below, sizeof below, "%s/%s", RKB_SOURCE_DIR, pattern);
   if (glob(below, 0, NULL, &found) != 0) {
      fprintf(stderr, "usage: rkb-bench-lint [PATTERN]; no seeds at %s\n", below);
      return 2;
   }
   fake_open(&fake, "verifier/lint");
   fake_start(&fake, NULL);
   printf("%-72s %8s %10s %10s\n", "seed", "bytes", "median ms", "longest");
   for (size_t i = 0; i < found.gl_pathc; i++) {
      const char *path = found.gl_pathv[i] + strlen(RKB_SOURCE_DIR) + 1;
      char *text = fake_read(path);
      double longest, median = time_one(&fake, text, &longest);
      printf("%-72s %8zu %10.3f %10.3f\n", path, strlen(text), median, longest);
      slowest = median > slowest ? median : slowest;
      free(text);
   }
   printf("slowest median %.3f ms, %.2f of the goal of %.0f ms\n", slowest, slowest / GOAL_MS, GOAL_MS);
   fake_close(&fake);
   globfree(&found);
   return 0;
}
