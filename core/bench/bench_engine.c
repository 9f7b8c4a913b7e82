/* rkb-bench-engine: what the engine itself costs, on one core.  Runs pipelines of stages that do nothing and prints stage
 * jobs a second with 256, 8 and 1 requests in flight, and candidates a second with an archive. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/usage.h"
#include "run/run.h"

#define PASSES 8

static void pin_to_one_core(void) {
   cpu_set_t set;
   CPU_ZERO(&set);
   CPU_SET((size_t)sched_getcpu(), &set);
   if (sched_setaffinity(0, sizeof set, &set) != 0)
      perror("not pinned");
}

static char *write_pipeline(const char *directory, int window, long candidates, int passes, bool measured,
                            int bytes) {
   rkb_text_t text;
   rkb_error_t err = {0};
   rkb_text_init(&text, 1 << 16);
   rkb_text_format(&text,
                   "rkb: 1\nlimits: {candidates: %ld}\npropose:\n  - use: test.translator.nothing\nscreen:\n",
                   candidates);
   for (int i = 0; i < passes; i++)
      rkb_text_format(&text, "  - {use: test.verifier.nothing, id: pass%d}\n", i);
   if (measured)
      rkb_text_add(&text, "  - use: test.profiler.six\n");
   rkb_text_format(&text,
                   "search:\n  use: test.strategy.always\n  window: %d\n  operators:\n    - use: "
                   "test.mutator.nothing\n      id: write\n"
                   "      with: {bytes: %d}\n",
                   window, bytes);
   char *path = rkb_path_join(directory, "bench.yaml");
   if (!path || rkb_file_write(path, rkb_text_get(&text), text.length, &err) != RKB_OK) {
      fprintf(stderr, "%s\n", err.message);
      exit(1);
   }
   rkb_text_free(&text);
   return path;
}

static rkb_run_result_t measure(const char *path, const char *archive, rkb_log_t *log) {
   static const char *const plugins[] = {RKB_TEST_PLUGINS, NULL};
   rkb_problems_t problems;
   rkb_run_result_t outcome;
   rkb_error_t err = {0};
   rkb_problems_init(&problems);
   rkb_pipeline_options_t options = {.path = path, .plugin_paths = plugins};
   rkb_pipeline_t *pipeline = rkb_pipeline_open(&options, &problems);
   if (!pipeline) {
      rkb_text_t text;
      rkb_text_init(&text, 1 << 16);
      rkb_problems_write(&problems, &text);
      fputs(rkb_text_get(&text), stderr);
      exit(1);
   }
   rkb_run_options_t run = {.directory = archive, .jobs = 1, .log = log};
   if (rkb_run(pipeline, &run, &outcome, &err) != RKB_OK) {
      fprintf(stderr, "%s\n", err.message);
      exit(1);
   }
   rkb_pipeline_free(pipeline);
   rkb_problems_free(&problems);
   return outcome;
}

int main(int argc, char **argv) {
   const int over = rkb_usage(
      argc, argv, 0,
      "usage: rkb-bench-engine\n"
      "What the engine itself costs, on one core: jobs a second of stages that do nothing, candidates a second with an archive.\n");
   if (over >= 0)
      return over;
   static const int windows[] = {256, 8, 1};
   char directory[] = "/tmp/rkb-bench-engine-XXXXXX";
   rkb_log_t *log = NULL;
   rkb_error_t err = {0};
   double fastest = 0;
   if (!mkdtemp(directory) || rkb_log_open(RKB_LOG_ERROR, false, NULL, &log, &err) != RKB_OK)
      return 1;
   pin_to_one_core();
   printf("stage jobs a second, one core, one worker, %d stages, archive off\n", PASSES);
   for (int i = 0; i < 3; i++) {
      char *path = write_pipeline(directory, windows[i], windows[i] == 1 ? 20000 : 60000, PASSES, false, 32);
      rkb_run_result_t outcome = measure(path, NULL, log);
      double rate = (double)outcome.jobs / outcome.seconds;
      fastest = rate > fastest ? rate : fastest;
      printf("  %3d in flight  %9.0f jobs/s  (%.2f us a job)\n", windows[i], rate, 1e6 / rate);
      unlink(path);
      free(path);
   }
   char *path = write_pipeline(directory, 256, 20000, 3, true, 2048);
   char *archive = rkb_path_join(directory, "run");
   if (!archive || rkb_make_directories(archive, &err) != RKB_OK)
      return 1;
   rkb_run_result_t outcome = measure(path, archive, log);
   double rate = (double)outcome.candidates / outcome.seconds;
   printf("candidates a second, one core, archive on: 3 verdicts, 6 measurements, 2 KB of source, and each "
          "ask and tell\n"
          "  %9.0f candidates/s in %.2f s; wanted 5000 and 200000 jobs/s: %.2f and %.2f times that\n",
          rate, outcome.seconds, rate / 5000, fastest / 200000);
   rkb_log_close(log);
   char command[100];
   snprintf(command, sizeof command, "rm -rf '%s'", directory);
   if (system(command) != 0)
      printf("left in %s\n", directory);
   free(archive);
   free(path);
   return 0;
}
