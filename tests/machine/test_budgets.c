/* What a candidate may cost, and on how many threads it is judged.  Whatever the budget, the certificate
 * either speaks for a check case's shape or names the case as left out; a candidate of which nothing was
 * executed is never accepted.  Whatever the number of jobs, the verdict is the same to the letter.  The
 * kernels are those of certificates/, one that fails on a later case, and one that fails on every case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <glob.h>
#include "check.h"
#include "cli/shared/pipeline_file.h"
#include "kernel_text.h"
#include "run/check_candidate.h"

static rkb_pipeline_t *open_pipeline(const char *path, const char *setting, const char *task) {
   const char *const set[] = {setting, task, NULL};
   const rkb_pipeline_options_t options = {.path = path, .set = set};
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_pipeline_t *pipeline = rkb_pipeline_open(&options, &problems);
   if (!pipeline)
      rkb_say_problems(&problems);
   assert_non_null(pipeline);
   rkb_problems_free(&problems);
   return pipeline;
}

/* The machine's verdict as one text. */
static char *judge(rkb_pipeline_t *pipeline, rkb_log_t *log, const char *path, uint32_t jobs) {
   char *source = read_text(path), *text = NULL;
   const rkb_check_options_t options = {
      .name = path, .secret = &rkb_secret_published, .source = source, .jobs = jobs, .log = log};
   rkb_check_result_t *result = NULL;
   rkb_error_t err = {0};
   if (rkb_check(pipeline, &options, &result, &err) != RKB_OK)
      fail_msg("%s: %s", path, err.message);
   const rkb_check_verdict_t *verdict = &result->verdicts[result->verdict_count - 1];
   assert_true(asprintf(&text, "%s\x1f%s\x1f%s\x1f%s\x1f%s", verdict->standing,
                        verdict->reason ? verdict->reason : "", verdict->message,
                        verdict->evidence ? verdict->evidence : "",
                        verdict->certificate ? verdict->certificate : "") > 0);
   rkb_check_result_free(result);
   free(source);
   return text;
}

/* of tasks/llama_rmsnorm */
static const char *const check_cases[] = {"check/one",          "check/short_rows", "check/odd",
                                          "check/over_a_warp",  "check/prime",      "check/vector",
                                          "check/over_a_block", "check/long_rows"};

/* A case that is not among the shapes of a facet is named with a reason; an acceptance executed something. */
static void hold_to(const char *path, const char *setting, const char *verdict) {
   const char *certificate = strrchr(verdict, 0x1f) + 1, *shapes = strstr(certificate, "\"shapes\":[");
   if (strncmp(verdict, "accept", 6) == 0 && (!shapes || shapes[10] == ']'))
      fail_msg("%s with %s is accepted and nothing was executed: %s", path, setting, verdict);
   if (!certificate[0])
      return;
   for (size_t n = 0; n < sizeof check_cases / sizeof *check_cases; n++) {
      char listed[64], left_out[64];
      const char *end = shapes ? strchr(shapes, ']') : NULL;
      snprintf(listed, sizeof listed, "\"%s\"", check_cases[n]);
      snprintf(left_out, sizeof left_out, "case %s: ", check_cases[n]);
      const char *at = shapes ? strstr(shapes, listed) : NULL;
      if (!(at && at < end) && !strstr(certificate, left_out))
         fail_msg("%s with %s: nothing is said of %s: %s", path, setting, check_cases[n], verdict);
   }
}

/* Each setting judges every ninth kernel, and the next setting the kernels after those; all of them would
 * take 300 s of processor time.  Under a sanitizer that follows threads, a judgement takes a hundred times as
 * long, and the number of kernels does not matter for what it looks for.  There, two settings judge every
 * fifth kernel. */
#ifdef __SANITIZE_THREAD__
#define KERNELS_APART 5
#define SETTINGS_APART 5
#elif defined(__SANITIZE_ADDRESS__) /* ten times as long */
#define KERNELS_APART 20
#define SETTINGS_APART 2
#else
#define KERNELS_APART 9
#define SETTINGS_APART 1
#endif

static const char *const settings[] = {
   "screen.machine.with.budget=1",       "screen.machine.with.budget=30000",
   "screen.machine.with.budget=100000",  "screen.machine.with.budget=400000",
   "screen.machine.with.budget=2000000", "screen.machine.with.budget=4000000000",
   "screen.machine.with.memory=1MiB"};

static void what_is_left_out_is_said(void **state) {
   (void)state;
   rkb_log_t *log = NULL;
   rkb_error_t err;
   glob_t files = {0};
   assert_int_equal(rkb_log_open(RKB_LOG_ERROR, false, NULL, &log, &err), RKB_OK);
   assert_int_equal(glob(CERTIFICATES "/*.cu", 0, NULL, &files), 0);
   assert_int_equal(glob(BUDGETS "/*.cu", GLOB_APPEND, NULL, &files), 0);
   const size_t apart = rkb_long_tests() ? 1 : KERNELS_APART;
   for (size_t s = 0; s < sizeof settings / sizeof *settings; s += SETTINGS_APART) {
      rkb_pipeline_t *pipeline = open_pipeline(CERTIFICATES "/pipeline.yaml", settings[s], NULL);
      for (size_t n = s % apart; n < files.gl_pathc; n += apart) {
         char *one = judge(pipeline, log, files.gl_pathv[n], 1),
              *many = judge(pipeline, log, files.gl_pathv[n], 4);
         assert_string_equal(one, many);
         if (s == 0)
            assert_non_null(strstr(one, "unknown\x1flimit.budget\x1f"));
         hold_to(files.gl_pathv[n], settings[s], one);
         free(one);
         free(many);
      }
      rkb_pipeline_free(pipeline);
   }
   globfree(&files);
   rkb_log_close(log);
}

/* Two tasks with two bench cases, which are executed side by side; and one with a single case, whose launches are judged by themselves side by side.  The
 * budget ends in check cases, in a bench case, or nowhere: each kernel has one of these, or, with RKB_LONG, all. */
static void bench_cases_have_turns(void **state) {
   static const char *const kernels[][2] = {{"softmax", TASKS "/softmax/seeds/forward/block_per_row.cu"},
                                            {"groupnorm", TASKS "/groupnorm/seeds/forward/two_launches.cu"},
                                            {"gelu_mlp", SAMPLED "/launch_by_itself.cu"}};
   static const char *const budgets[] = {"screen.machine.with.budget=60000000", "screen.machine.with.budget=110000000",
                                         "screen.machine.with.budget=4000000000"};
   (void)state;
   rkb_log_t *log = NULL;
   rkb_error_t err;
   assert_int_equal(rkb_log_open(RKB_LOG_ERROR, false, NULL, &log, &err), RKB_OK);
   for (size_t n = 0; n < sizeof kernels / sizeof *kernels; n++)
      for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b += SETTINGS_APART) {
         if (b != n && !rkb_long_tests())
            continue;
         char task[512];
         snprintf(task, sizeof task, "task=%s/%s", TASKS, kernels[n][0]);
         rkb_pipeline_t *pipeline = open_pipeline(SAMPLED "/pipeline.yaml", budgets[b], task);
         char *one = judge(pipeline, log, kernels[n][1], 1), *many = judge(pipeline, log, kernels[n][1], 4);
         assert_string_equal(one, many);
         free(one);
         free(many);
         rkb_pipeline_free(pipeline);
      }
   rkb_log_close(log);
}

/* What takes the machine longer than additions is more work: 655 million products of matrix instructions in 13 million thread-instructions a run,
 * and as many instructions on halves.  By the number of thread-instructions the first case would be executed whole. */
static void dear_instructions_are_work(void **state) {
   (void)state;
   rkb_log_t *log = NULL;
   rkb_error_t err;
   glob_t files = {0};
   assert_int_equal(rkb_log_open(RKB_LOG_ERROR, false, NULL, &log, &err), RKB_OK);
   assert_int_equal(glob(BUDGETS "/products/*.cu", 0, NULL, &files), 0);
   assert_true(files.gl_pathc > 1);
   rkb_pipeline_t *pipeline =
      open_pipeline(CERTIFICATES "/pipeline.yaml", "screen.machine.with.budget=40000000", NULL);
   for (size_t n = 0; n < files.gl_pathc; n++) {
      char *verdict = judge(pipeline, log, files.gl_pathv[n], 1);
      if (!strstr(verdict, "unknown\x1flimit.budget\x1fno case could be executed whole"))
         fail_msg("%s: %s", files.gl_pathv[n], verdict);
      free(verdict);
   }
   rkb_pipeline_free(pipeline);
   globfree(&files);
   rkb_log_close(log);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_left_out_is_said),
                                      cmocka_unit_test(bench_cases_have_turns),
                                      cmocka_unit_test(dear_instructions_are_work)};
   return RUN_TESTS(tests);
}
