/* rkb-bench-expected: seconds of processor and clock that the expected values of bench shapes cost, output by output, as the
 * GPU's check and the timing profiler ask for them: runs of neighbours, each output of one set of values by itself.
 *
 *    rkb-bench-expected [--points N] [--budget SECONDS] [--only TEXT] [TASK_DIRECTORY...]
 *
 * known is how many of the wanted elements were evaluated before the budget (by default none) ended; refused, that even the
 * first run of neighbours passes the limit of work.  Each output is evaluated in a process of its own, so that memory is
 * its own too.  The main thread, with OpenMP's below it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "engine/extensions.h"
#include "expected/sample.h"
#include "task/task.h"

typedef struct settings {
   uint64_t points;
   double budget; /* seconds */
   const char *only;
} settings_t;

typedef struct cost {
   double seconds, processor, bytes;
} cost_t;

static double seconds_now(void) {
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The child's part: evaluates and prints. */
static int evaluate(const rkb_task_t *task, const rkb_case_t *the_case, uint32_t tensor,
                    const settings_t *settings) {
   const rkb_family_t *family = rkb_task_family(task, the_case, 0);
   const sampler_t sampler = {.task = &RKB_TASK_API,
                              .random = &RKB_RANDOM_API,
                              .most = settings->points,
                              .budget_ns = (uint64_t)(settings->budget * 1e9)};
   rkb_inputs_t *inputs = NULL;
   sample_t *samples = calloc(the_case->tensor_count, sizeof *samples);
   const wanted_t wanted = {.the_case = the_case, .family = family, .seed = 1, .samples = samples};
   rkb_error_t err = {0};
   if (!samples)
      return 1;
   int status = rkb_task_inputs_open(task, the_case, family, 1, &inputs, &err);
   if (status == RKB_OK) {
      rkb_task_inputs_limit(inputs, RUN_MOST_WORK);
      status = sample_open(&sampler, &wanted, inputs, tensor, &err);
   }
   if (status != RKB_OK) {
      printf("   %s\n", err.message);
      rkb_task_inputs_free(inputs);
      free(samples);
      return 1;
   }
   const sample_t sample = samples[tensor];
   double sum = 0, bounds = 0; /* what was evaluated, in two numbers */
   for (uint64_t i = 0; i < sample.count; i++) {
      sum += sample.numbers[i];
      bounds += sample.numbers[sample.room + i];
   }
   printf("%8llu %8llu%s  %.15g %.9g", (unsigned long long)sample.count, (unsigned long long)sample.room,
          sample.count ? "" : " refused", sum, bounds);
   sample_close(&samples[tensor]);
   rkb_task_inputs_free(inputs);
   free(samples);
   return 0;
}

static bool measure(const rkb_task_t *task, const rkb_case_t *the_case, uint32_t tensor,
                    const settings_t *settings, cost_t *sum) {
   const rkb_task_info_t *info = rkb_task_info(task);
   printf("%-24s %-8s %-26s %-18s", info->name, info->direction, the_case->name,
          the_case->tensors[tensor].name);
   fflush(stdout);
   double begin = seconds_now();
   pid_t child = fork();
   if (child == 0) {
      int result = evaluate(task, the_case, tensor, settings);
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
   printf(" %9.2f s %9.2f s processor %8.0f MB\n", seconds, processor, bytes / 1e6);
   sum->seconds += seconds;
   sum->processor += processor;
   sum->bytes = fmax(sum->bytes, bytes);
   return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool measure_direction(const char *directory, const char *direction, const settings_t *settings,
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
   for (uint32_t i = 0; (the_case = rkb_task_case(task, RKB_CASE_BENCH, i)) != NULL; i++)
      for (uint32_t t = 0; t < the_case->tensor_count; t++) {
         char name[512];
         snprintf(name, sizeof name, "%s %s %s %s", rkb_task_info(task)->name, direction, the_case->name,
                  the_case->tensors[t].name);
         if (the_case->tensors[t].role != RKB_IN && (!settings->only || strstr(name, settings->only)))
            good = measure(task, the_case, t, settings, &sum) && good;
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
   settings_t settings = {.points = 1024, .budget = 1e6};
   int64_t points;
   cost_t all = {0};
   bool good = true;
   int first = 1;
   for (; first + 1 < argc && strncmp(argv[first], "--", 2) == 0; first += 2) {
      char *end;
      if (strcmp(argv[first], "--points") == 0 && rkb_parse_int(argv[first + 1], &points) && points > 0)
         settings.points = (uint64_t)points;
      else if (strcmp(argv[first], "--budget") == 0)
         settings.budget = strtod(argv[first + 1], &end);
      else if (strcmp(argv[first], "--only") == 0)
         settings.only = argv[first + 1];
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
            good = measure_direction(argv[i], *direction, &settings, &all) && good;
   printf("all: %.2f s, %.2f s of processor, at most %.0f MB\n", all.seconds, all.processor, all.bytes / 1e6);
   return good ? 0 : 1;
}
