/* Each behaviour is tested in both forms, blocking and on the loop: they must not differ. */
#include "check.h"
#include "base/file.h"
#include "system/process.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

typedef struct outcome {
   rkb_loop_t *loop; /* NULL: blocking */
   int status;
   unsigned calls;
   rkb_process_result_t result;
   char output[4096], errors[4096];
   rkb_error_t err;
} outcome_t;

static void keep(outcome_t *outcome, int status, const rkb_process_result_t *result) {
   outcome->calls++;
   outcome->status = status;
   if (status != RKB_OK)
      return;
   outcome->result = *result;
   snprintf(outcome->output, sizeof outcome->output, "%s", result->output);
   snprintf(outcome->errors, sizeof outcome->errors, "%s", result->errors);
   assert_int_equal(result->output[result->output_bytes], '\0');
   assert_int_equal(result->errors[result->errors_bytes], '\0');
}

static void on_done(void *argument, int status, const rkb_process_result_t *result) {
   outcome_t *outcome = argument;
   keep(outcome, status, result);
   rkb_loop_stop(outcome->loop);
}

static outcome_t run_blocking(const rkb_process_spec_t *spec) {
   outcome_t outcome = {0};
   rkb_process_result_t *result = NULL;
   int status = rkb_process_run(spec, NULL, NULL, &result, &outcome.err);
   keep(&outcome, status, result);
   rkb_process_result_free(result);
   return outcome;
}

static outcome_t run_on_loop(const rkb_process_spec_t *spec) {
   outcome_t outcome = {0};
   assert_int_equal(rkb_loop_new(&outcome.loop, &outcome.err), RKB_OK);
   outcome.status = rkb_process_start(outcome.loop, spec, on_done, &outcome, NULL, &outcome.err);
   if (outcome.status == RKB_OK) {
      rkb_loop_run(outcome.loop);
      assert_int_equal(outcome.calls, 1);
   } else {
      assert_int_equal(outcome.calls, 0);
   }
   rkb_loop_free(outcome.loop);
   return outcome;
}

typedef outcome_t (*form_t)(const rkb_process_spec_t *spec);

static const form_t forms[] = {run_blocking, run_on_loop};

#define EACH_FORM(run)                                                                                       \
   for (unsigned form = 0; form < 2; form++)                                                                 \
      for (form_t run = forms[form]; run; run = NULL)

static rkb_process_spec_t shell(const char *script, const char *arguments[4]) {
   arguments[0] = "sh";
   arguments[1] = "-c";
   arguments[2] = script;
   arguments[3] = NULL;
   return (rkb_process_spec_t){
      .size = sizeof(rkb_process_spec_t), .arguments = arguments, .deadline_ns = 200 * SECOND};
}

static unsigned open_files(void) {
   unsigned count = 0;
   DIR *directory = opendir("/proc/self/fd");
   while (readdir(directory))
      count++;
   closedir(directory);
   return count;
}

static void output_and_status_come_back(void **state) {
   (void)state;
   const char *arguments[4];
   rkb_process_spec_t spec = shell("echo out; echo err >&2; exit 7", arguments);
   EACH_FORM(run) {
      outcome_t outcome = run(&spec);
      assert_int_equal(outcome.status, RKB_OK);
      assert_int_equal(outcome.result.exit_code, 7);
      assert_int_equal(outcome.result.signal, 0);
      assert_false(outcome.result.timed_out);
      assert_string_equal(outcome.output, "out\n");
      assert_string_equal(outcome.errors, "err\n");
   }
}

static void a_signal_is_told_apart(void **state) {
   (void)state;
   const char *arguments[4];
   rkb_process_spec_t spec = shell("kill -SEGV $$", arguments);
   EACH_FORM(run) {
      outcome_t outcome = run(&spec);
      assert_int_equal(outcome.result.signal, SIGSEGV);
      assert_int_equal(outcome.result.exit_code, 0);
   }
}

static void the_environment_holds_what_is_listed(void **state) {
   (void)state;
   static const char *const environment[] = {"ONE=1", "TWO=2", NULL};
   const char *arguments[] = {"env", NULL};
   rkb_process_spec_t spec = {.size = sizeof spec, .arguments = arguments, .deadline_ns = 200 * SECOND};
   setenv("RKB_PLANTED_KEY", "secret", 1);
   EACH_FORM(run) {
      spec.environment = NULL;
      assert_string_equal(run(&spec).output, "");
      spec.environment = environment;
      assert_string_equal(run(&spec).output, "ONE=1\nTWO=2\n");
   }
}

static void input_is_given_whole(void **state) {
   (void)state;
   const char *arguments[4];
   size_t size = 3 << 20; /* more than a pipe holds, and read by nobody in the second case */
   char *input = malloc(size);
   memset(input, 'x', size);
   EACH_FORM(run) {
      rkb_process_spec_t spec = shell("wc -c", arguments);
      spec.input = input;
      spec.input_bytes = size;
      assert_string_equal(run(&spec).output, "3145728\n");
      spec = shell("exit 3", arguments);
      spec.input = input;
      spec.input_bytes = size;
      assert_int_equal(run(&spec).result.exit_code, 3);
      spec = shell("cat; cat /dev/stdin", arguments); /* /dev/null, also by name */
      outcome_t outcome = run(&spec);
      assert_string_equal(outcome.output, "");
      assert_int_equal(outcome.result.exit_code, 0);
   }
   free(input);
}

static void output_is_capped(void **state) {
   (void)state;
   const char *arguments[4];
   rkb_process_spec_t spec = shell("yes | head -c 5000000; echo done >&2", arguments);
   spec.output_limit = 1000;
   EACH_FORM(run) {
      outcome_t outcome = run(&spec);
      assert_int_equal(outcome.result.output_bytes, 1000);
      assert_true(outcome.result.output_cut);
      assert_string_equal(outcome.errors, "done\n"); /* the rest was read, and thrown away */
   }
}

static void an_endless_writer_meets_its_deadline(void **state) {
   (void)state;
   const char *arguments[4];
   rkb_process_spec_t spec = shell("yes", arguments);
   spec.deadline_ns = SECOND;
   EACH_FORM(run) {
      outcome_t outcome = run(&spec);
      assert_true(outcome.result.timed_out);
      assert_true(outcome.result.output_cut);
      assert_int_equal(outcome.result.signal, SIGKILL);
   }
}

/* Waits for a process that is no longer a child of this one. */
static bool is_gone(pid_t pid) {
   for (int i = 0; i < 60000; i++) {
      char path[64], status[1024] = "";
      snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
      FILE *file = fopen(path, "r");
      if (!file)
         return true;
      size_t got = fread(status, 1, sizeof status - 1, file);
      fclose(file);
      status[got] = '\0';
      char *name_end = strrchr(status, ')');
      if (name_end && name_end[2] == 'Z')
         return true; /* dead, but not yet collected by the process that adopted it */
      usleep(1000);
   }
   return false;
}

static void grandchildren_die_with_the_group(void **state) {
   (void)state;
   const char *arguments[4];
   EACH_FORM(run) {
      rkb_process_spec_t spec = shell("sleep 1000 & echo $!; sleep 1000 & wait", arguments);
      spec.deadline_ns = SECOND;
      outcome_t outcome = run(&spec);
      assert_true(outcome.result.timed_out);
      assert_true(atoi(outcome.output) > 0);
      assert_true(is_gone(atoi(outcome.output)));
      /* And when the first process ends at once, but leaves one behind that holds the pipes. */
      spec = shell("sleep 1000 & echo $!", arguments);
      outcome = run(&spec);
      assert_false(outcome.result.timed_out);
      assert_int_equal(outcome.result.exit_code, 0);
      assert_true(is_gone(atoi(outcome.output)));
   }
}

/* One that leaves the group cannot be killed with it; it must not be waited for either. */
static void a_runaway_that_holds_the_pipes_is_left(void **state) {
   (void)state;
   const char *arguments[4];
   /* The sixth word of stat is the session: the shell ends once the other process has one of its own. */
   rkb_process_spec_t spec = shell(
      "setsid sleep 10000 & echo $!; until [ \"$(cut -d' ' -f6 /proc/$!/stat)\" = $! ]; do :; done; echo end", arguments);
   EACH_FORM(run) {
      outcome_t outcome = run(&spec);
      assert_non_null(strstr(outcome.output, "end\n"));
      kill(atoi(outcome.output), SIGKILL);
   }
}

static void what_cannot_be_started_says_why(void **state) {
   (void)state;
   static const struct {
      const char *program, *directory, *says;
   } cases[] = {{"rkb-no-such-program", NULL, "there is no program 'rkb-no-such-program' on PATH"},
                {"/nowhere/program", NULL, "could not run it: No such file or directory"},
                {"/etc/passwd", NULL, "could not run it: Permission denied"},
                {"true", "/nowhere", "could not enter its directory: No such file or directory"}};
   (void)state;
   unsigned files = open_files();
   EACH_FORM(run) {
      for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
         const char *arguments[] = {cases[i].program, NULL};
         rkb_process_spec_t spec = {.size = sizeof spec,
                                    .arguments = arguments,
                                    .directory = cases[i].directory,
                                    .deadline_ns = 200 * SECOND};
         outcome_t outcome = run(&spec);
         assert_int_equal(outcome.status, RKB_ERR_UNAVAILABLE);
         assert_non_null(strstr(outcome.err.message, cases[i].says));
      }
      const char *arguments[4];
      rkb_process_spec_t spec = shell("true", arguments);
      spec.deadline_ns = 0;
      assert_int_equal(run(&spec).status, RKB_ERR_INVALID);
   }
   assert_int_equal(open_files(), files);
}

static void memory_is_limited(void **state) {
   (void)state;
   const char *arguments[] = {"python3", "-c", "x = bytearray(400 << 20); print(len(x))", NULL};
   rkb_process_spec_t spec = {.size = sizeof spec, .arguments = arguments, .deadline_ns = 200 * SECOND};
   EACH_FORM(run) {
      spec.memory_limit = 0;
      assert_string_equal(run(&spec).output, "419430400\n");
      spec.memory_limit = 200 << 20;
      outcome_t outcome = run(&spec);
      assert_string_equal(outcome.output, "");
      assert_non_null(strstr(outcome.errors, "MemoryError"));
   }
}

static void nothing_leaks_into_the_child(void **state) {
   (void)state;
   const char *arguments[4];
   /* A descriptor that is not close-on-exec, and an ignored signal. */
   int leaked = dup(STDIN_FILENO);
   signal(SIGPIPE, SIG_IGN);
   rkb_process_spec_t spec = shell("ls /proc/$$/fd; grep -E 'Sig(Ign|Cgt)' /proc/self/status", arguments);
   EACH_FORM(run) {
      outcome_t outcome = run(&spec);
      char *rest = strstr(outcome.output, "SigIgn:");
      assert_non_null(rest);
      assert_memory_equal(outcome.output, "0\n1\n2\n", 6);
      assert_memory_equal(rest, "SigIgn:\t0000000000000000\n", 25);
   }
   signal(SIGPIPE, SIG_DFL);
   close(leaked);
}

static bool always(void *asked) {
   ++*(int *)asked;
   return true;
}

static void cancel(void *process) {
   rkb_process_cancel(process);
   rkb_process_cancel(process); /* twice does no harm */
}

static void cancelling_kills(void **state) {
   (void)state;
   const char *arguments[4];
   rkb_process_spec_t spec = shell("sleep 1000", arguments);
   rkb_error_t err;
   rkb_process_result_t *result;
   rkb_process_t *process;
   int asked = 0;
   assert_int_equal(rkb_process_run(&spec, always, &asked, &result, &err), RKB_OK);
   assert_true(result->cancelled && !result->timed_out);
   assert_int_equal(asked, 1);
   rkb_process_result_free(result);
   rkb_process_result_free(NULL);
   outcome_t outcome = {0};
   assert_int_equal(rkb_loop_new(&outcome.loop, &err), RKB_OK);
   assert_int_equal(rkb_process_start(outcome.loop, &spec, on_done, &outcome, &process, &err), RKB_OK);
   rkb_loop_post(outcome.loop, cancel, process);
   rkb_loop_run(outcome.loop);
   assert_true(outcome.result.cancelled && !outcome.result.timed_out);
   assert_int_equal(outcome.result.signal, SIGKILL);
   rkb_loop_free(outcome.loop);
}

static void count_down(void *argument, int status, const rkb_process_result_t *result) {
   outcome_t *outcome = argument;
   assert_int_equal(status, RKB_OK);
   assert_string_equal(result->output, "x\n");
   if (--outcome->calls == 0)
      rkb_loop_stop(outcome->loop);
}

static void many_run_side_by_side_and_leave_nothing(void **state) {
   (void)state;
   const char *arguments[4];
   rkb_process_spec_t spec = shell("echo x", arguments);
   unsigned files = open_files();
   outcome_t outcome = {.calls = 60};
   assert_int_equal(rkb_loop_new(&outcome.loop, &outcome.err), RKB_OK);
   for (int i = 0; i < 60; i++)
      assert_int_equal(rkb_process_start(outcome.loop, &spec, count_down, &outcome, NULL, &outcome.err),
                       RKB_OK);
   rkb_loop_run(outcome.loop);
   rkb_loop_free(outcome.loop);
   assert_int_equal(open_files(), files);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(output_and_status_come_back),
                                      cmocka_unit_test(a_signal_is_told_apart),
                                      cmocka_unit_test(the_environment_holds_what_is_listed),
                                      cmocka_unit_test(input_is_given_whole),
                                      cmocka_unit_test(output_is_capped),
                                      cmocka_unit_test(an_endless_writer_meets_its_deadline),
                                      cmocka_unit_test(grandchildren_die_with_the_group),
                                      cmocka_unit_test(a_runaway_that_holds_the_pipes_is_left),
                                      cmocka_unit_test(what_cannot_be_started_says_why),
                                      cmocka_unit_test(memory_is_limited),
                                      cmocka_unit_test(nothing_leaks_into_the_child),
                                      cmocka_unit_test(cancelling_kills),
                                      cmocka_unit_test(many_run_side_by_side_and_leave_nothing)};
   return RUN_TESTS(tests);
}
