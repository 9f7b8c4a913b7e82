/* rkb-bench-build [--processes N | --cache DIR] [FILE.cu]...: the time of one simple candidate from its text to a plan in a warm process; candidates a
 * second through the compiler pool, cold (no cache) with one process and with N, and from the cache.  Without files: every seed below tasks/.  Each file is
 * built with each of up to four tune assignments.  --cache times only cached builds, from a directory that the program does not delete.  Ratios compare
 * figures of this run; nothing is compared with a goal. */
#include "kernel/kernel_fixture.h"
#include "base/file.h"
#include "base/text.h"
#include "base/usage.h"

#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_JOBS = 2048 };

typedef struct job {
   char *source;
   char tune[256];
   const char *path;
} job_t;

typedef struct bench {
   job_t jobs[MAX_JOBS];
   uint32_t count, next, failed, built;
   rkb_compilers_t *pool;
   const rkb_device_t *device;
   pthread_mutex_t mutex;
} bench_t;

static double seconds_of(clockid_t clock) {
   struct timespec time;
   clock_gettime(clock, &time);
   return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double now(void) {
   return seconds_of(CLOCK_MONOTONIC);
}

static void *work(void *argument) {
   bench_t *bench = argument;
   for (;;) {
      rkb_finding_t finding;
      rkb_error_t err = {0};
      rkb_build_t *build = NULL;
      const job_t *job;
      uint32_t index;
      int status;
      pthread_mutex_lock(&bench->mutex);
      index = bench->next++;
      pthread_mutex_unlock(&bench->mutex);
      if (index >= bench->count)
         return NULL;
      job = &bench->jobs[index];
      status = rkb_build_candidate(bench->pool, bench->device, job->source, job->tune, 0, NULL, NULL, &build,
                                   NULL, &finding, &err);
      pthread_mutex_lock(&bench->mutex);
      bench->built += build != NULL;
      bench->failed += build == NULL;
      pthread_mutex_unlock(&bench->mutex);
      if (!build)
         fprintf(stderr, "%s %s: %s %s: %s (line %u:%u)\n", job->path, job->tune, status ? err.message : "",
                 finding.reason, finding.message, finding.line, finding.column);
      rkb_build_free(build);
   }
}

static double run(bench_t *bench, uint32_t processes, const char *cache) {
   const rkb_compilers_config_t config = {.processes = processes, .cache_directory = cache};
   pthread_t threads[64];
   char version[32], path[1024];
   rkb_error_t err;
   double start;
   if (rkb_compilers_open(&config, &bench->pool, &err) != RKB_OK ||
       rkb_compilers_toolkit(bench->pool, version, sizeof version, path, sizeof path, &err) != RKB_OK) {
      fprintf(stderr, "rkb-bench-build: %s\n", err.message);
      exit(3);
   }
   bench->next = bench->built = bench->failed = 0;
   start = now();
   for (uint32_t i = 0; i < processes; i++)
      pthread_create(&threads[i], NULL, work, bench);
   for (uint32_t i = 0; i < processes; i++)
      pthread_join(threads[i], NULL);
   start = now() - start;
   rkb_compilers_close(bench->pool);
   return start;
}

/* Adds a file with its default assignment, and with up to three assignments that differ from it in one parameter. */
static void add_file(bench_t *bench, const char *path) {
   rkb_problems_t problems;
   rkb_error_t err;
   char *source;
   size_t length;
   rkb_manifest_t *manifest;
   if (rkb_file_read(path, 1u << 20, &source, &length, &err) != RKB_OK) {
      fprintf(stderr, "%s: %s\n", path, err.message);
      return;
   }
   rkb_problems_init(&problems);
   manifest = rkb_manifest_parse(path, source, length, &problems);
   for (uint32_t i = 0; i < problems.count; i++)
      fprintf(stderr, "%s:%u:%u: %s\n", path, problems.list[i].line, problems.list[i].column,
              problems.list[i].message);
   if (manifest && bench->count < MAX_JOBS)
      bench->jobs[bench->count++] = (job_t){source, "{}", path};
   for (uint32_t i = 0; manifest && i < manifest->tune_count && i < 3; i++) {
      const rkb_tune_parameter_t *tune = &manifest->tune[i];
      for (uint32_t k = 0; k < tune->choice_count; k++) {
         if (tune->choices[k] == tune->fallback || bench->count == MAX_JOBS)
            continue;
         bench->jobs[bench->count] = (job_t){.source = source, .path = path};
         snprintf(bench->jobs[bench->count++].tune, sizeof bench->jobs[0].tune, "{\"%s\": %lld}", tune->name,
                  (long long)tune->choices[k]);
         break;
      }
   }
   rkb_manifest_free(manifest);
   rkb_problems_free(&problems);
}

static int by_value(const void *left, const void *right) {
   const double a = *(const double *)left, b = *(const double *)right;
   return (a > b) - (a < b);
}

typedef struct timing {
   double wall, processor; /* in seconds; processor: time of the compiler process alone */
} timing_t;

/* Times one candidate from manifest to plan, without a cache.  Also reports the compiler's processor time, which does not depend on the
 * machine's load. */
static timing_t build_once(rkb_compilers_t *pool, const rkb_device_t *device, const char *source,
                           const fixture_case_t *of) {
   const double start = now();
   rkb_problems_t problems;
   rkb_build_cost_t cost;
   rkb_finding_t finding;
   rkb_error_t err = {0};
   rkb_build_t *build = NULL;
   rkb_plan_t *plan = NULL;
   rkb_manifest_t *manifest;
   timing_t took;
   rkb_problems_init(&problems);
   manifest = rkb_manifest_parse("candidate.cu", source, strlen(source), &problems);
   rkb_build_candidate(pool, device, source, NULL, 0, NULL, NULL, &build, &cost, &finding, &err);
   if (manifest && build)
      rkb_plan_make(manifest, NULL, build, device, &of->of, fixture_lookup, (void *)of, &plan, &finding,
                    &err);
   if (!plan) {
      fprintf(stderr, "rkb-bench-build: %s %s\n", finding.message, err.message);
      exit(3);
   }
   took = (timing_t){now() - start, (double)cost.cpu_ns * 1e-9};
   rkb_plan_free(plan);
   rkb_build_free(build);
   rkb_manifest_free(manifest);
   rkb_problems_free(&problems);
   return took;
}

/* Times a file; the first few compiles only warm the process up and do not count. */
static void time_one(const rkb_device_t *device, const char *file, const char *what) {
   enum { WARM_UP = 3, TIMES = 21 };
   rkb_compilers_t *pool = fixture_pool(1, NULL);
   fixture_case_t of;
   double wall[TIMES], processor[TIMES];
   size_t length;
   char *source = fixture_read(file, &length);
   fixture_rmsnorm(&of, 16, 1024, 4096);
   for (int i = -WARM_UP; i < TIMES; i++) {
      timing_t took = build_once(pool, device, source, &of);
      wall[i < 0 ? 0 : i] = took.wall;
      processor[i < 0 ? 0 : i] = took.processor;
   }
   qsort(wall, TIMES, sizeof *wall, by_value);
   qsort(processor, TIMES, sizeof *processor, by_value);
   printf(
      "text to PTX, machine code and plan, warm, %s: median %.1f ms, best %.1f ms (the compiler's processor time: "
      "median %.1f ms, best %.1f ms)\n",
      what, wall[TIMES / 2] * 1e3, wall[0] * 1e3, processor[TIMES / 2] * 1e3, processor[0] * 1e3);
   free(source);
   rkb_compilers_close(pool);
}

/* One round is too short to time, so there are twenty. */
static double time_cached_with(bench_t *bench, uint32_t threads, const char *cache) {
   enum { ROUNDS = 20 };
   double cached = 0, worked = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
   for (int i = 0; i < ROUNDS; i++)
      cached += run(bench, threads, cache);
   cached /= ROUNDS;
   worked = (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - worked) / ROUNDS;
   printf("cached, %u thread%s  %9.1f candidates/s, %.3f ms of processor time each", threads,
          threads == 1 ? " " : "s", bench->count / cached, worked / bench->count * 1e3);
   return cached;
}

static void time_cached(bench_t *bench, uint32_t threads, const char *cache, double cold) {
   double one, many;
   run(bench, threads, cache); /* this run fills the cache */
   one = time_cached_with(bench, 1, cache);
   if (cold > 0)
      printf("  (%.1f times cold)", cold / one);
   printf("\n");
   if (threads > 1) {
      many = time_cached_with(bench, threads, cache);
      printf("  (%.2f times one thread)\n", one / many);
   }
}

static void time_all(bench_t *bench, uint32_t processes) {
   char cache[] = "/tmp/rkb-bench-build-XXXXXX";
   double one, many;
   if (!mkdtemp(cache)) {
      perror("rkb-bench-build: mkdtemp");
      exit(3);
   }
   time_one(bench->device, "candidates/one_kernel.cu", "one kernel");
   time_one(bench->device, "candidates/rmsnorm.cu", "one template in two instances");
   one = run(bench, 1, "");
   printf("%u candidates, %u built\n", bench->count, bench->built);
   printf("cold, 1 process     %8.1f candidates/s  (%.1f ms each)\n", bench->count / one,
          one / bench->count * 1e3);
   many = run(bench, processes, "");
   printf("cold, %u processes   %8.1f candidates/s  (%.2f times one process)\n", processes,
          bench->count / many, one / many);
   time_cached(bench, processes, cache, one);
   fixture_remove(cache);
}

int main(int argc, char **argv) {
   const int over = rkb_usage(
      argc, argv, INT_MAX,
      "usage: rkb-bench-build [--processes N | --cache DIR] [FILE.cu]...\n"
      "Candidates a second through the compiler pool, cold and from the cache.  Without files: every seed below tasks/.\n");
   if (over >= 0)
      return over;
   static bench_t bench = {.mutex = PTHREAD_MUTEX_INITIALIZER};
   const char *cache = NULL;
   uint32_t processes = 2;
   rkb_problems_t problems;
   int first = 1;
   if (argc > 2 && strcmp(argv[1], "--processes") == 0) {
      processes = (uint32_t)atoi(argv[2]);
      first = 3;
   } else if (argc > 2 && strcmp(argv[1], "--cache") == 0) {
      cache = argv[2];
      first = 3;
   }
   processes = processes < 1 ? 1 : processes > 64 ? 64 : processes;
   rkb_problems_init(&problems);
   bench.device = rkb_device_load("h200", &problems);
   for (int i = first; i < argc; i++)
      add_file(&bench, argv[i]);
   if (first == argc) {
      static glob_t found;
      if (glob(RKB_SOURCE_DIR "/tasks/*/seeds/*/*.cu", 0, NULL, &found) == 0)
         for (size_t i = 0; i < found.gl_pathc; i++)
            add_file(&bench, found.gl_pathv[i]);
   }
   if (!bench.device || !bench.count) {
      fprintf(stderr, "rkb-bench-build: %s\n", bench.device ? "no candidates" : problems.list[0].message);
      return 2;
   }
   if (cache)
      time_cached(&bench, processes, cache, 0);
   else
      time_all(&bench, processes);
   return bench.failed ? 1 : 0;
}
