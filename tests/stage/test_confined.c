/* Jobs in processes of their own: whatever such a job does, only its candidate gets an unknown verdict, and
 * the run continues. */
#include "run/run_harness.h"

#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD "rkb: 1\npropose:\n  - use: test.translator.start\n    with: {values: [\"6\", \"10\", \"15\"]}\n"

static void run_act(const char *scratch, const char *act, const char *limits) {
   char text[1024];
   snprintf(text, sizeof text, HEAD "limits: {%s}\nscreen:\n  - {use: test.verifier.confined, with: {act: %s}, retries: 0}\n",
            limits, act);
   rkb_pipeline_t *pipeline = open_text(scratch, "confined.yaml", text, NULL);
   run_pipeline(pipeline, scratch, 2, false);
   rkb_pipeline_free(pipeline);
}

static void expect(const char *scratch, const char *act, int candidate, const char *verdict) {
   const char *given = verdict_of(scratch, candidate, "confined");
   if (strcmp(given, verdict) != 0)
      fail_msg("%s: candidate %d got '%s', and not '%s'", act, candidate, given, verdict);
}

/* act, limits, verdict of the second candidate */
static const char *const acts[][3] = {
   {"nothing", "", "accept"},
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* a sanitizer needs what the sandbox refuses: it is left out */
   {"reach", "", "accept"},
#endif
   {"crash", "", "unknown tool.failed"},
   {"kill", "", "unknown tool.failed"},
   {"exit", "", "unknown tool.failed"},
   {"lie", "", "unknown tool.failed"},
   {"flood", "", "unknown tool.failed"},
   {"words", "", "unknown tool.failed"},
   {"standing", "", "unknown tool.contract"},
   {"refuse", "", "unknown tool.invalid"},
   {"work", "execute: 50ms", "unknown tool.limit"},
   /* It fills 1 GiB.  A sanitizer's own memory counts too, and has been seen to pass 256 MiB. */
   {"memory", "execute_memory: 768MiB", "unknown tool.limit"},
};

static void test_acts(void **state) {
   (void)state;
   for (size_t n = 0; n < sizeof acts / sizeof *acts; n++) {
      char *scratch = scratch_make();
      run_act(scratch, acts[n][0], acts[n][1]);
      expect(scratch, acts[n][0], 2, acts[n][2]);
      expect(scratch, acts[n][0], 1, "accept");
      expect(scratch, acts[n][0], 3, "accept");
      scratch_remove(scratch);
   }
}

/* The parent of a process, whose name name is; 0 when it has another, or there is none. */
static pid_t parent_of(const char *path, const char *name) {
   char found[64] = "";
   int parent = 0;
   FILE *file = fopen(path, "r");
   if (file && fscanf(file, "%*d (%63[^)]) %*c %d", found, &parent) != 2)
      parent = 0;
   if (file)
      fclose(file);
   return strcmp(found, name) == 0 ? parent : 0;
}

/* The server of this process's run: the child of our child. */
static pid_t find_server(void) {
   glob_t all;
   pid_t server = 0;
   assert_int_equal(glob("/proc/[0-9]*/stat", 0, NULL, &all), 0);
   for (size_t n = 0; n < all.gl_pathc && !server; n++) {
      char keeper[64];
      snprintf(keeper, sizeof keeper, "/proc/%d/stat", (int)parent_of(all.gl_pathv[n], "rkb-jobs"));
      if (parent_of(keeper, "rkb-keeper") == getpid())
         server = atoi(all.gl_pathv[n] + strlen("/proc/"));
   }
   globfree(&all);
   return server;
}

static void kill_server(void *argument, const rkb_event_t *event) {
   bool *killed = argument;
   const pid_t server = *killed || !event->candidates ? 0 : find_server();
   if (server)
      *killed = kill(server, SIGKILL) == 0;
}

static void test_another_server(void **state) {
   char *scratch = scratch_make();
   bool killed = false;
   rkb_log_t *log = quiet_log();
   rkb_run_result_t outcome;
   rkb_error_t err = {0};
   (void)state;
   rkb_pipeline_t *pipeline = open_text(
      scratch, "server.yaml", HEAD "screen:\n  - {use: test.verifier.confined, retries: 3, jobs: 1}\n", NULL);
   rkb_run_options_t options = {
      .directory = scratch, .jobs = 1, .log = log, .observe = kill_server, .argument = &killed};
   assert_int_equal(rkb_run(pipeline, &options, &outcome, &err), RKB_OK);
   assert_true(killed);
   for (int candidate = 1; candidate <= 3; candidate++)
      expect(scratch, "server killed", candidate, "accept");
   rkb_pipeline_free(pipeline);
   rkb_log_close(log);
   scratch_remove(scratch);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(test_acts), cmocka_unit_test(test_another_server)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
