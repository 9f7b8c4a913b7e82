/* Screening workers find what this machine finds, whatever happens to them.  A program that cannot be a
 * worker is named and left out. */
#include "run/run_harness.h"

#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"

#define PYTHON "/usr/bin/env, python3, " RKB_SOURCE_DIR "/tests/stage/lying_worker.py, "
/* Each check is a process of its own.  Under the address sanitizer the kernel copies and frees its tables of pages for 40 ms. */
#ifdef __SANITIZE_ADDRESS__
#define CANDIDATES 24
#define FEW_CANDIDATES 6
#else
#define CANDIDATES 60
#define FEW_CANDIDATES 15
#endif
#define CLIMB \
   "rkb: 1\nseed: 7\nobjective: {minimise: [distance.distance]}\nlimits: {candidates: %d}\n" \
   "propose:\n  - use: test.translator.start\n    with: {values: [\"100\", \"10\", \"7\"]}\n" \
   "screen:\n  - {use: test.verifier.confined, retries: 0, with: {act: %s}}\n  - use: test.profiler.distance\n" \
   "search:\n  use: test.strategy.climb\n  window: 8\n  operators:\n" \
   "    - {use: test.mutator.step, with: {children: 2, low: -20, high: 60}}\n"

static char *log_text(const char *directory) {
   rkb_error_t err = {0};
   char *path = rkb_path_join(directory, "events.jsonl"), *text = NULL;
   size_t length;
   assert_int_equal(rkb_file_read(path, 4 << 20, &text, &length, &err), RKB_OK);
   free(path);
   return text;
}

/* Runs into a folder of scratch, with these workers (YAML; NULL: none), and gives its folder. */
static char *run_with(const char *scratch, const char *name, int candidates, const char *act, const char *workers,
                      void (*observe)(void *, const rkb_event_t *), void *argument) {
   char text[2048], assignment[1024];
   const char *set[] = {workers ? assignment : NULL, NULL};
   char *directory = rkb_path_join(scratch, name), *log_path = rkb_path_join(directory, "events.jsonl");
   rkb_log_t *log = NULL;
   rkb_run_result_t outcome;
   rkb_error_t err = {0};
   snprintf(text, sizeof text, CLIMB, candidates, act);
   snprintf(assignment, sizeof assignment, "workers=%s", workers ? workers : "");
   rkb_pipeline_t *pipeline = open_text(scratch, "climb.yaml", text, set);
   assert_int_equal(rkb_make_directories(directory, &err), RKB_OK);
   assert_int_equal(rkb_log_open(RKB_LOG_ERROR + 1, false, log_path, &log, &err), RKB_OK);
   rkb_run_options_t options = {.directory = directory, .jobs = 1, .secret = &rkb_secret_published, .log = log,
                                .observe = observe, .argument = argument};
   if (rkb_run(pipeline, &options, &outcome, &err) != RKB_OK)
      fail_msg("%s: %s", name, err.message);
   rkb_log_close(log);
   rkb_pipeline_free(pipeline);
   free(log_path);
   return directory;
}

static void expect_log(const char *directory, const char *part) {
   char *text = log_text(directory);
   if (!strstr(text, part))
      fail_msg("the log does not say '%s', but:\n%s", part, text);
   free(text);
}

/* The builds and checks that workers took. */
static unsigned long taken_there(const char *directory) {
   static const char before[] = "screening workers took ";
   char *text = log_text(directory), *at = strstr(text, before);
   assert_non_null(at);
   const unsigned long taken = strtoul(at + sizeof before - 1, NULL, 10);
   free(text);
   return taken;
}

/* Child processes of this one by the kernel's short name; the first is put into *first. */
static unsigned count_children(const char *name, pid_t *first) {
   glob_t all;
   unsigned count = 0;
   assert_int_equal(glob("/proc/[0-9]*/stat", 0, NULL, &all), 0);
   for (size_t n = 0; n < all.gl_pathc; n++) {
      char found[64] = "";
      int parent = 0;
      FILE *file = fopen(all.gl_pathv[n], "r");
      if (file && fscanf(file, "%*d (%63[^)]) %*c %d", found, &parent) == 2 && parent == getpid() && strcmp(found, name) == 0 &&
          count++ == 0)
         *first = atoi(all.gl_pathv[n] + strlen("/proc/"));
      if (file)
         fclose(file);
   }
   globfree(&all);
   return count;
}

/* The first events of a run wait for both, so that they have something to do. */
static void wait_for_two(void *argument, const rkb_event_t *event) {
   pid_t first;
   (void)event;
   for (int n = 0; !*(bool *)argument && n < 1200 && count_children("rkb-screen-work", &first) < 2; n++)
      usleep(50000);
   *(bool *)argument = true;
}

typedef struct killing {
   bool waited;
   int ends; /* candidates that ended */
   int killed;
} killing_t;

/* kill -9 of one worker after every tenth candidate. */
static void kill_some(void *argument, const rkb_event_t *event) {
   killing_t *killing = argument;
   pid_t worker = 0;
   wait_for_two(&killing->waited, event);
   if (event->kind == RKB_EVENT_CANDIDATE_END && ++killing->ends % 10 == 0 && count_children("rkb-screen-work", &worker))
      killing->killed += kill(worker, SIGKILL) == 0;
}

static void test_equal(void **state) {
   char *scratch = scratch_make();
   bool waited = false;
   killing_t killing = {.waited = false};
   (void)state;
   char *none = run_with(scratch, "none", CANDIDATES, "nothing", NULL, NULL, NULL),
        *two = run_with(scratch, "two", CANDIDATES, "nothing", "[{device: none, count: 2}]", wait_for_two, &waited),
        *killed = run_with(scratch, "killed", CANDIDATES, "nothing", "[{device: none, count: 2}]", kill_some, &killing);
   assert_same_runs(none, two);
   assert_true(taken_there(two) > 10);
   assert_true(killing.killed >= 1);
   assert_same_runs(none, killed);
   free(none);
   free(two);
   free(killed);
   scratch_remove(scratch);
}

/* What a job does to its own process says the same of its candidate wherever it does it. */
static void test_bad_jobs(void **state) {
   static const char *const acts[] = {"crash", "exit", "lie", "refuse"};
   (void)state;
   for (size_t n = 0; n < sizeof acts / sizeof *acts; n++) {
      char *scratch = scratch_make();
      bool waited = false;
      char *none = run_with(scratch, "none", FEW_CANDIDATES, acts[n], NULL, NULL, NULL),
           *two = run_with(scratch, "two", FEW_CANDIDATES, acts[n], "[{device: none, count: 2}]", wait_for_two, &waited);
      assert_same_runs(none, two);
      free(none);
      free(two);
      scratch_remove(scratch);
   }
}

#define LIAR(how) "[{command: [" PYTHON how ", " RKB_SCREEN_WORKER "], environment: [PATH], device: none}]"

/* workers, what the log says of it, and what it says before that for the run to begin in earnest */
static const char *const wrong[][3] = {
   {"[{command: [/nowhere/ssh, host, rkb-screen-worker], device: none}]", "cannot start /nowhere/ssh", NULL},
   {"[{command: [/bin/cat], device: none, count: 4}]", "what it starts is no rkb-screen-worker", NULL},
   {"[{command: [/bin/true], device: none}]", "when it was started", NULL},
   /* a frame of 29 bytes: READY, version "0.0.0", good 0, an empty text */
   {"[{command: [/usr/bin/env, printf, 'rkrk\\001\\000\\000\\000\\035\\000\\000\\000\\000\\000\\000\\000\\146\\000\\000\\000\\005\\000\\000\\000\\000\\000\\000\\0000.0.0"
    "\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000'], device: none}]",
    "it is rkb 0.0.0, and this is " RKB_VERSION, NULL},
   {LIAR("late"), "did not keep the protocol", "it screens"},
   {LIAR("kind"), "did not keep the protocol", "it screens"},
   {LIAR("gigabyte"), "did not keep the protocol", "it screens"},
   {LIAR("endless"), "did not keep the protocol", "it screens"},
   {LIAR("half"), "did not keep the protocol", "it screens"},
};

typedef struct waiting {
   const char *directory, *for_what;
   bool over;
} waiting_t;

static void wait_for_log(void *argument, const rkb_event_t *event) {
   waiting_t *waiting = argument;
   (void)event;
   for (int n = 0; !waiting->over && n < 1200; n++) {
      char *text = log_text(waiting->directory);
      waiting->over = strstr(text, waiting->for_what) != NULL;
      free(text);
      if (!waiting->over)
         usleep(50000);
   }
   waiting->over = true;
}

static void test_wrong_workers(void **state) {
   char *scratch = scratch_make();
   (void)state;
   char *none = run_with(scratch, "none", FEW_CANDIDATES, "nothing", NULL, NULL, NULL);
   for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++) {
      char name[16];
      snprintf(name, sizeof name, "wrong%zu", n);
      char *directory = rkb_path_join(scratch, name);
      waiting_t waiting = {.directory = directory, .for_what = wrong[n][2] ? wrong[n][2] : wrong[n][1]};
      char *run = run_with(scratch, name, FEW_CANDIDATES, "nothing", wrong[n][0], wait_for_log, &waiting);
      assert_same_runs(none, run);
      expect_log(run, wrong[n][1]);
      free(directory);
      free(run);
   }
   free(none);
   scratch_remove(scratch);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(test_equal), cmocka_unit_test(test_bad_jobs),
                                      cmocka_unit_test(test_wrong_workers)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
