/* rkb-bench-screen: processor time and memory of judging each seed kernel.  The goals are for column 'cases': the machine's whole check on the task's
 * check cases alone, with all their input families. Column 'first' adds the other checks of the pipeline: drawn shapes, and blocks sampled at bench shapes.
 * Both are the first check of a process.  Column 'again' is a second check in that process, which reuses expected values.  Other work on the host makes
 * processor time longer, never shorter, so 'cases' is measured in ROUNDS rounds over all seeds, and the program prints the least and the most of them.
 * Prints a table and compares it with the goals; exits with 1 when a seed is not accepted.
 *
 *    rkb-bench-screen [PIPELINE [SEED.cu ...]]      without seeds: all of the source tree's; the pipeline has a stage 'machine'
 *    rkb-bench-screen --whole [SEED.cu ...]         `rkb check` as a person runs it, from an empty cache, compiling and starting included
 *
 * Compiling is not counted: each seed is built once before, and its build kept.  Uses one core, and one
 * thread beside the engine's own. */
#include <glob.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/usage.h"
#include "cli/shared/pipeline_file.h"
#include "run/check_candidate.h"

#define ROUNDS 5
#define GOAL_SMALL 0.15
#define GOAL_MEDIAN 0.3
#define GOAL_SLOW 1.0
#define GOAL_BYTES 200e6

typedef struct seed_cost {
   double cases, first, again; /* seconds of processor time; cases: the least of the rounds */
   double most;                /* the most of the rounds */
   double bytes;               /* most resident memory */
   double predicted;           /* in microseconds, the sum over bench cases; negative: not predicted */
   uint32_t predicted_cases;   /* bench cases predicted */
   char standing[16], reason[48];
} seed_cost_t;

static double seconds_of(int who) {
   struct rusage used;
   getrusage(who, &used);
   return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
          1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* Processor time of this process and of its ended children, in which jobs run. */
static double processor_seconds(void) {
   return seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN);
}

static double resident_bytes(void) {
   struct rusage used, jobs;
   getrusage(RUSAGE_SELF, &used);
   getrusage(RUSAGE_CHILDREN, &jobs);
   return 1024.0 * (double)(used.ru_maxrss > jobs.ru_maxrss ? used.ru_maxrss : jobs.ru_maxrss);
}

static char *read_text(const char *path) {
   char *text = NULL;
   size_t length = 0;
   rkb_error_t err;
   return rkb_file_read(path, 1u << 20, &text, &length, &err) == RKB_OK ? text : NULL;
}

static double check_once(rkb_pipeline_t *pipeline, rkb_log_t *log, const char *path, const char *source,
                         seed_cost_t *cost) {
   const rkb_check_options_t options = {
      .name = path, .secret = &rkb_secret_published, .source = source, .jobs = 1, .log = log};
   rkb_check_result_t *result = NULL;
   rkb_error_t err = {0};
   const double began = processor_seconds();
   if (rkb_check(pipeline, &options, &result, &err) != RKB_OK) {
      fprintf(stderr, "%s: %s\n", path, err.message);
      return -1;
   }
   const double seconds = processor_seconds() - began;
   snprintf(cost->standing, sizeof cost->standing, "%s", result->standing);
   snprintf(cost->reason, sizeof cost->reason, "%s", result->reason);
   cost->predicted = -1;
   cost->predicted_cases = 0;
   for (uint32_t n = 0; n < result->measurement_count; n++)
      if (strcmp(result->measurements[n].name, "model.predicted_us") == 0 &&
          result->measurements[n].case_name) {
         cost->predicted = (cost->predicted_cases++ ? cost->predicted : 0) + result->measurements[n].value;
      }
   rkb_check_result_free(result);
   return seconds;
}

/* tasks/NAME/seeds/DIRECTION/FILE.cu names its task and direction. */
static bool split_path(const char *path, char *task, size_t task_size, char *direction,
                       size_t direction_size) {
   const char *seeds = strstr(path, "/seeds/"), *last = strrchr(path, '/');
   if (!seeds || last <= seeds + 7)
      return false;
   snprintf(task, task_size, "%.*s", (int)(seeds - path), path);
   snprintf(direction, direction_size, "%.*s", (int)(last - seeds - 7), seeds + 7);
   return true;
}

/* Runs in a child process, so that memory is one seed's alone and nothing is kept from the seed before. */
static void measure(const char *pipeline_path, const char *path, bool cases_alone, seed_cost_t *cost) {
   static const char *const cases_set[] = {"screen.machine.with.shapes=0",
                                           "screen.machine.with.bench_blocks=0", NULL};
   char task[512], direction[64];
   char *source = read_text(path);
   if (!source || !split_path(path, task, sizeof task, direction, sizeof direction)) {
      fprintf(stderr, "%s: no seed of a task\n", path);
      _exit(2);
   }
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   const rkb_pipeline_options_t options = {
      .path = pipeline_path, .task = task, .direction = direction, .set = cases_alone ? cases_set : NULL};
   rkb_pipeline_t *pipeline = rkb_pipeline_open(&options, &problems);
   if (!pipeline) {
      rkb_say_problems(&problems);
      _exit(2);
   }
   rkb_log_t *log = NULL;
   rkb_error_t err = {0};
   if (rkb_log_open(RKB_LOG_ERROR, false, NULL, &log, &err) != RKB_OK) {
      fprintf(stderr, "%s\n", err.message);
      _exit(2);
   }
   double taken = check_once(pipeline, log, path, source, cost);
   if (cases_alone) {
      cost->cases = cost->cases > 0 && cost->cases < taken ? cost->cases : taken;
      cost->most = taken > cost->most ? taken : cost->most;
   } else {
      cost->first = taken;
      cost->again = check_once(pipeline, log, path, source, cost);
   }
   cost->bytes = resident_bytes() > cost->bytes ? resident_bytes() : cost->bytes;
   fflush(NULL);
   _exit(taken < 0 ? 2 : 0);
}

/* Whether the seed was accepted. */
static bool measure_apart(const char *pipeline, const char *path, bool cases_alone, seed_cost_t *cost) {
   int status = 0;
   fflush(NULL);
   pid_t child = fork();
   if (child == 0)
      measure(pipeline, path, cases_alone, cost);
   if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
      snprintf(cost->standing, sizeof cost->standing, "failed");
   return strcmp(cost->standing, "accept") == 0;
}

static int by_value(const void *a, const void *b) {
   const double x = *(const double *)a, y = *(const double *)b;
   return (x > y) - (x < y);
}

static double quantile(double *sorted, size_t count, double share) {
   const size_t at = (size_t)(share * (double)(count - 1) + 0.999999);
   return sorted[at < count ? at : count - 1];
}

static const char *short_name(const char *path) {
   const char *at = strstr(path, "tasks/");
   return at ? at + 6 : path;
}

static void print_seed(const char *name, const seed_cost_t *cost) {
   printf("%-58s %8.3f %8.3f %8.3f %8.3f %8.0f ", name, cost->cases, cost->most, cost->first, cost->again,
          cost->bytes * 1e-6);
   if (cost->predicted >= 0)
      printf("%12.1f", cost->predicted);
   else
      printf("%12s", "none");
   printf("  %s %s\n", cost->standing, cost->reason);
}

typedef double figure_t(const seed_cost_t *cost);

static double cases_of(const seed_cost_t *cost) {
   return cost->cases;
}

static double most_of(const seed_cost_t *cost) {
   return cost->most;
}

static double first_of(const seed_cost_t *cost) {
   return cost->first;
}

static bool is_small(const char *name) {
   return strncmp(name, "llama_rmsnorm/", 14) == 0 || strncmp(name, "softmax/", 8) == 0 ||
          strncmp(name, "mnist_linear/", 13) == 0;
}

/* Sums up one figure of all seeds: the largest of the small tasks', the median, the 95th percentile. */
static void summarise(char **paths, const seed_cost_t *costs, size_t count, figure_t *figure, double *sorted,
                      double summary[3]) {
   summary[0] = 0;
   for (size_t n = 0; n < count; n++) {
      sorted[n] = figure(&costs[n]);
      if (is_small(short_name(paths[n])) && sorted[n] > summary[0])
         summary[0] = sorted[n];
   }
   qsort(sorted, count, sizeof *sorted, by_value);
   summary[1] = quantile(sorted, count, 0.5);
   summary[2] = quantile(sorted, count, 0.95);
}

static void print_summary(char **paths, const seed_cost_t *costs, size_t count, double *sorted) {
   static const char *const names[] = {"slowest, rmsnorm softmax mnist_linear", "median", "95th percentile"};
   static const double goals[] = {GOAL_SMALL, GOAL_MEDIAN, GOAL_SLOW};
   double least[3], most[3], first[3], largest = 0;
   summarise(paths, costs, count, cases_of, sorted, least);
   summarise(paths, costs, count, most_of, sorted, most);
   summarise(paths, costs, count, first_of, sorted, first);
   printf("\n%-38s %8s %8s %8s %8s %8s\n", "", "cases", "goal", "ratio", "most", "first");
   for (int k = 0; k < 3; k++)
      printf("%-38s %8.3f %8.2f %8.2f %8.3f %8.3f\n", names[k], least[k], goals[k], least[k] / goals[k],
             most[k], first[k]);
   for (size_t n = 0; n < count; n++)
      largest = costs[n].bytes > largest ? costs[n].bytes : largest;
   printf("%-38s %8.0f %8.0f %8.2f\n", "resident MB at most", largest * 1e-6, GOAL_BYTES * 1e-6,
          largest / GOAL_BYTES);
}

static int table(const char *pipeline, char **paths, size_t count) {
   seed_cost_t *costs =
      mmap(NULL, (count + 1) * sizeof *costs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
   double *sorted = rkb_allocate(count + 1, sizeof *sorted);
   int failures = 0;
   if (costs == MAP_FAILED || !sorted) {
      fprintf(stderr, "no memory for the table\n");
      return 2;
   }
   for (size_t n = 0; n < count; n++) { /* from here on the compiler's results are kept */
      measure_apart(pipeline, paths[n], true, &costs[n]);
      costs[n] = (seed_cost_t){0};
   }
   for (int round = 0; round < ROUNDS; round++)
      for (size_t n = 0; n < count; n++)
         failures += !measure_apart(pipeline, paths[n], true, &costs[n]);
   printf("%-58s %8s %8s %8s %8s %8s %12s  %s\n", "seed", "cases s", "most s", "first s", "again s", "MB",
          "predicted us", "standing");
   for (size_t n = 0; n < count; n++) {
      failures += !measure_apart(pipeline, paths[n], false, &costs[n]);
      print_seed(short_name(paths[n]), &costs[n]);
   }
   print_summary(paths, costs, count, sorted);
   free(sorted);
   return failures != 0;
}

/* The whole command ----------------------------------------------------------------------------------------------------- */

#define GOAL_WHOLE 0.4

/* Runs `rkb check` with an empty cache.  Receives the processor time of all its processes and the time on the
 * clock.  False: it did not accept. */
static bool check_whole(const char *path, double *processor, double *clock) {
   char cache[] = "/tmp/rkb-bench-XXXXXX", command[64];
   struct timespec began, ended;
   int status = 0;
   if (!mkdtemp(cache) || setenv("XDG_CACHE_HOME", cache, 1) != 0)
      return false;
   const double before = seconds_of(RUSAGE_CHILDREN);
   clock_gettime(CLOCK_MONOTONIC, &began);
   const pid_t child = fork();
   if (child == 0) {
      if (!freopen("/dev/null", "w", stdout))
         _exit(127);
      execl(RKB_PROGRAM, "rkb", "check", path, (char *)NULL);
      _exit(127);
   }
   if (child < 0 || waitpid(child, &status, 0) < 0)
      return false;
   clock_gettime(CLOCK_MONOTONIC, &ended);
   *processor = seconds_of(RUSAGE_CHILDREN) - before;
   *clock = (double)(ended.tv_sec - began.tv_sec) + 1e-9 * (double)(ended.tv_nsec - began.tv_nsec);
   snprintf(command, sizeof command, "rm -rf %s", cache);
   return system(command) == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int whole_table(char **paths, size_t count) {
   double *processor = rkb_allocate(count + 1, sizeof *processor), *clock = rkb_allocate(count + 1, sizeof *clock);
   int failures = 0;
   if (!processor || !clock)
      return 2;
   printf("%-58s %12s %8s\n", "seed", "processor s", "clock s");
   for (size_t n = 0; n < count; n++) {
      const bool accepted = check_whole(paths[n], &processor[n], &clock[n]);
      failures += !accepted;
      printf("%-58s %12.3f %8.3f%s\n", short_name(paths[n]), processor[n], clock[n], accepted ? "" : "  not accepted");
      fflush(stdout);
   }
   qsort(processor, count, sizeof *processor, by_value);
   qsort(clock, count, sizeof *clock, by_value);
   printf("\n%-58s %12.3f %8.3f   goal %.1f, ratio %.2f\n", "median", quantile(processor, count, 0.5),
          quantile(clock, count, 0.5), GOAL_WHOLE, quantile(processor, count, 0.5) / GOAL_WHOLE);
   printf("%-58s %12.3f %8.3f\n", "90th percentile", quantile(processor, count, 0.9), quantile(clock, count, 0.9));
   printf("%-58s %12.3f %8.3f\n", "most", processor[count - 1], clock[count - 1]);
   free(processor);
   free(clock);
   return failures != 0;
}

/* The goals are for one core.  On several cores, threads of libraries that wait for work spin, and that
 * counts as processor time. */
static void use_one_core(void) {
   cpu_set_t mine, one;
   CPU_ZERO(&one);
   if (sched_getaffinity(0, sizeof mine, &mine) != 0)
      return;
   for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
      if (CPU_ISSET(cpu, &mine))
         CPU_SET(cpu, &one);
   if (sched_setaffinity(0, sizeof one, &one) != 0)
      perror("rkb-bench-screen: not held to one core");
}

int main(int argc, char **argv) {
   const int over = rkb_usage(
      argc, argv, INT_MAX,
      "usage: rkb-bench-screen [PIPELINE [SEED.cu]...]\n"
      "       rkb-bench-screen --whole [SEED.cu]...\n"
      "Processor time and memory of judging each seed kernel, on one core, against the goals: on its check cases, the least and the most of\n"
      "five rounds; the first and a second time with drawn shapes and bench blocks.  PIPELINE (default: pipelines/stock.yaml) has a\n"
      "stage 'machine'.  Without seeds: all below tasks/.  --whole: what `rkb check` of each takes from an empty cache, all its processes\n"
      "and compiling included, on one core.\n");
   if (over >= 0)
      return over;
   const bool whole = argc > 1 && strcmp(argv[1], "--whole") == 0;
   const char *pipeline = argc > 1 ? argv[1] : RKB_SOURCE_DIR "/pipelines/stock.yaml";
   glob_t all = {0};
   use_one_core();
   if (argc > 2)
      return whole ? whole_table(argv + 2, (size_t)argc - 2) : table(pipeline, argv + 2, (size_t)argc - 2);
   if (glob(RKB_SOURCE_DIR "/tasks/*/seeds/*/*.cu", 0, NULL, &all) != 0) {
      fprintf(stderr, "no seeds under %s\n", RKB_SOURCE_DIR "/tasks");
      return 2;
   }
   int code = whole ? whole_table(all.gl_pathv, all.gl_pathc) : table(pipeline, all.gl_pathv, all.gl_pathc);
   globfree(&all);
   return code;
}
