/* rkb-bench-expected: the time on the clock, processor time and memory that expected values take at bench shapes, for one set of inputs.  Asks for them as
 * the GPU's check and the timing profiler do: runs of neighbouring elements of every output.
 *
 *    rkb-bench-expected [--points N] [--budget SECONDS] [--only TEXT] TASK_DIRECTORY...
 *
 * For each output, prints how many of the wanted elements were evaluated within its budget (default: no budget); the number is 0 if even the first run of
 * neighbours exceeds the limit of work.  Also prints the sums of values and of hard bounds, with which you can compare two builds.  TEXT is part of "task
 * direction case".  Each case is evaluated in a process of its own, so that its memory is counted alone.  Main thread, and OpenMP's threads. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/units.h"
#include "base/usage.h"
#include "task/expected/expected_sample.h"

typedef struct options {
   uint64_t points;
   double budget; /* seconds */
   const char *only;
} options_t;

typedef struct cost {
   double seconds, processor, bytes;
} cost_t;

static double seconds_now(void) {
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void print_sample(const char *name, const rkb_sample_t *sample) {
   double values = 0, bounds = 0;
   for (uint64_t i = 0; i < sample->points.count; i++) {
      values += sample->points.value[i];
      bounds += sample->points.hard[i];
   }
   printf("   %-18s %8llu of %8llu   %.12g %.9g\n", name, (unsigned long long)sample->points.count,
          (unsigned long long)sample->wanted, values, bounds);
}

/* The child process: evaluates one case and prints what it cost. */
static int evaluate(const rkb_task_t *task, const rkb_case_t *the_case, const options_t *options) {
   const rkb_sampling_t sampling = {
      .task = task, .points = options->points, .budget_ns = (uint64_t)(options->budget * 1e9)};
   rkb_sample_t *samples = rkb_allocate(the_case->tensor_count + 1, sizeof *samples);
   const rkb_wanted_t wanted = {
      .the_case = the_case, .family = rkb_task_family(task, the_case, 0), .seed = 1, .samples = samples};
   rkb_error_t err = {0};
   int status = rkb_samples_open(&sampling, &wanted, 1, &err);
   if (status != RKB_OK)
      printf("   %s\n", err.message);
   for (uint32_t t = 0; t < the_case->tensor_count; t++) {
      if (samples[t].wanted > 0)
         print_sample(the_case->tensors[t].name, &samples[t]);
      rkb_sample_close(&samples[t]);
   }
   free(samples);
   return status == RKB_OK ? 0 : 1;
}

static bool measure(const rkb_task_t *task, const rkb_case_t *the_case, const options_t *options,
                    cost_t *sum) {
   const rkb_task_info_t *info = rkb_task_info(task);
   printf("%s %s %s\n", info->name, info->direction, the_case->name);
   fflush(stdout);
   double begin = seconds_now();
   pid_t child = fork();
   if (child == 0) {
      int result = evaluate(task, the_case, options);
      fflush(stdout);
      _exit(result);
   }
   struct rusage used;
   int status = 0;
   if (child < 0 || wait4(child, &status, 0, &used) != child)
      return false;
   double seconds = seconds_now() - begin;
   double processor = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                      1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
   double bytes = 1024.0 * (double)used.ru_maxrss;
   printf("   %.2f s, %.2f s of processor, %.0f MB\n", seconds, processor, bytes / 1e6);
   sum->seconds += seconds;
   sum->processor += processor;
   sum->bytes = fmax(sum->bytes, bytes);
   if (!WIFEXITED(status))
      printf("   the evaluation ended by signal %d\n", WTERMSIG(status));
   return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool measure_direction(const char *directory, const char *direction, const options_t *options,
                              cost_t *all) {
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_task_t *task = rkb_task_load(directory, direction, 0, &problems);
   bool good = task != NULL;
   if (!task) {
      fprintf(stderr, "%s: cannot be loaded\n", directory);
      rkb_problems_free(&problems);
      return false;
   }
   const rkb_case_t *the_case;
   cost_t sum = {0};
   for (uint32_t i = 0; (the_case = rkb_task_case(task, RKB_CASE_BENCH, i)) != NULL; i++) {
      char name[512];
      snprintf(name, sizeof name, "%s %s %s", rkb_task_info(task)->name, direction, the_case->name);
      if (!options->only || strstr(name, options->only))
         good = measure(task, the_case, options, &sum) && good;
   }
   if (sum.seconds > 0)
      printf("%-24s %-8s in all: %.2f s, %.2f s of processor, at most %.0f MB\n", rkb_task_info(task)->name,
             direction, sum.seconds, sum.processor, sum.bytes / 1e6);
   all->seconds += sum.seconds;
   all->processor += sum.processor;
   all->bytes = fmax(all->bytes, sum.bytes);
   rkb_task_free(task);
   rkb_problems_free(&problems);
   return good;
}

static bool has_direction(const char *directory, const char *direction) {
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_task_t *task = rkb_task_load(directory, NULL, 0, &problems);
   bool found = false;
   for (const char *const *d = task ? rkb_task_directions(task) : NULL; d && *d; d++)
      found |= strcmp(*d, direction) == 0;
   rkb_task_free(task);
   rkb_problems_free(&problems);
   return found;
}

int main(int argc, char **argv) {
   const int over = rkb_usage(
      argc, argv, INT_MAX,
      "usage: rkb-bench-expected [--points N] [--budget SECONDS] [--only TEXT] TASK_DIRECTORY...\n"
      "Time and memory that the expected values of one set of inputs cost at bench shapes.  TEXT is part of 'task direction case'.\n");
   if (over >= 0)
      return over;
   options_t options = {.points = 1024, .budget = 1e6};
   int64_t points;
   cost_t all = {0};
   bool good = true;
   int first = 1;
   for (; first + 1 < argc && strncmp(argv[first], "--", 2) == 0; first += 2) {
      char *end;
      if (strcmp(argv[first], "--points") == 0 && rkb_parse_int(argv[first + 1], &points) && points > 0)
         options.points = (uint64_t)points;
      else if (strcmp(argv[first], "--budget") == 0)
         options.budget = strtod(argv[first + 1], &end);
      else if (strcmp(argv[first], "--only") == 0)
         options.only = argv[first + 1];
      else
         break;
   }
   if (first >= argc) {
      fprintf(stderr,
              "usage: rkb-bench-expected [--points N] [--budget SECONDS] [--only TEXT] TASK_DIRECTORY...\n");
      return 2;
   }
   for (int i = first; i < argc; i++)
      for (const char *const *direction = (const char *const[]){"forward", "backward", NULL}; *direction;
           direction++)
         if (has_direction(argv[i], *direction))
            good = measure_direction(argv[i], *direction, &options, &all) && good;
   printf("all: %.2f s, %.2f s of processor, at most %.0f MB\n", all.seconds, all.processor, all.bytes / 1e6);
   return good ? 0 : 1;
}
