/* What the checking machine may claim of a kernel, and what not: certificates/ holds kernels that invite a claim too many (a path
 * that a value decides certified for all values, an order certified that was not looked at), each with what its certificate
 * must say and what it must never say.
 *
 * certificates/ways/ holds one way each for a value to get somewhere: a function that gives 0 for every value that is tested, and
 * that a kernel, which is otherwise steered by nothing, branches on.  The kernel is in head.txt and tail.txt around it.
 *
 * sampled/ does the same for what is claimed of blocks sampled at the bench shapes, shapes/ holds kernels that are wrong only on
 * shapes that no check case has.
 *
 * styles/ holds correct kernels in styles that the error bounds must admit, each with its broken twins.
 *
 *    // standing: accept
 *    // says: TEXT            in the certificate of an acceptance, as compact JSON; else in the verdict's message
 *    // never: TEXT
 *    // shows: TEXT           in the evidence of a rejection
 *    // task: NAME             another one of the shipped tasks
 *    // secrets: N             the same under the secrets 1 to N, of which each draws other inputs
 *    // twin: MACRO VALUE => TEXT   the kernel with another value of a macro is rejected, with TEXT in the message
 *    // set: PATH=VALUE        changes the pipeline for this file, e.g. screen.machine.with.budget=1000000
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <glob.h>
#include <unistd.h>
#include "check.h"
#include "cli/shared/pipeline_file.h"
#include "kernel_text.h"
#include "run/check_candidate.h"

/* The text after "// word: " in the n-th line that has it; NULL past the last. */
static char *directive(const char *source, const char *word, int n) {
   char start[32];
   snprintf(start, sizeof start, "\n// %s: ", word);
   for (const char *at = strstr(source, start); at; at = strstr(at + 1, start))
      if (n-- == 0)
         return strndup(at + strlen(start), strcspn(at + strlen(start), "\n"));
   return NULL;
}

static int hold_to(const char *path, const char *source, const char *certificate) {
   int wrong = 0;
   char *text;
   for (int n = 0; (text = directive(source, "says", n)); n++, free(text))
      if (!strstr(certificate, text)) {
         print_error("%s: the certificate does not say %s\n", path, text);
         wrong++;
      }
   for (int n = 0; (text = directive(source, "never", n)); n++, free(text))
      if (strstr(certificate, text)) {
         print_error("%s: the certificate claims %s\n", path, text);
         wrong++;
      }
   if (wrong)
      print_error("%s\n", certificate);
   return wrong;
}

static int hold_evidence(const char *path, const char *source, const char *evidence) {
   int wrong = 0;
   char *text;
   for (int n = 0; (text = directive(source, "shows", n)); n++, free(text))
      if (!evidence || !strstr(evidence, text)) {
         print_error("%s: the evidence does not show %s: %s\n", path, text, evidence ? evidence : "none");
         wrong++;
      }
   return wrong;
}

#define MOST_SETTINGS 8

static rkb_pipeline_t *open_for(const char *pipeline_path, const char *source) {
   const char *set[MOST_SETTINGS + 2] = {NULL};
   int count = 0;
   while (count < MOST_SETTINGS && (set[count] = directive(source, "set", count)) != NULL)
      count++;
   char *task = directive(source, "task", 0), *task_path = NULL;
   if (task) {
      assert_true(asprintf(&task_path, "task=%s/%s", TASKS, task) > 0);
      set[count++] = task_path;
   }
   free(task);
   const rkb_pipeline_options_t options = {.path = pipeline_path, .set = set};
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_pipeline_t *pipeline = rkb_pipeline_open(&options, &problems);
   if (!pipeline)
      rkb_say_problems(&problems);
   assert_non_null(pipeline);
   rkb_problems_free(&problems);
   for (int n = 0; n < count; n++)
      free((char *)set[n]);
   return pipeline;
}

/* The kernel of a file: its text, or that of head.txt, its text and tail.txt, where these lie beside it. */
static char *kernel_of(const char *path) {
   char head[4096], tail[4096], *text = read_text(path), *whole;
   const int folder = (int)(strrchr(path, '/') - path);
   snprintf(head, sizeof head, "%.*s/head.txt", folder, path);
   snprintf(tail, sizeof tail, "%.*s/tail.txt", folder, path);
   if (access(head, R_OK) != 0)
      return text;
   char *before = read_text(head), *after = read_text(tail);
   assert_true(asprintf(&whole, "%s%s%s", before, text, after) > 0);
   free(before);
   free(after);
   free(text);
   return whole;
}

/* What kernels are judged by: a pipeline, open for those that change nothing of it, so that they share a compiler's process. */
typedef struct judges {
   rkb_log_t *log;
   const char *path;
   rkb_pipeline_t *unchanged;
} judges_t;

static bool changes_pipeline(const char *source) {
   char *set = directive(source, "set", 0), *task = directive(source, "task", 0);
   const bool changes = set || task;
   free(set);
   free(task);
   return changes;
}

/* Judges a kernel; says NULL: by its own directives. */
static int judge_as(const judges_t *judges, const char *path, const char *source, const rkb_secret_t *secret,
                    const char *standing, const char *says) {
   rkb_pipeline_t *own = changes_pipeline(source) ? open_for(judges->path, source) : NULL;
   const rkb_check_options_t options = {
      .name = path, .secret = secret, .source = source, .jobs = 1, .log = judges->log};
   rkb_check_result_t *result = NULL;
   rkb_error_t err = {0};
   int wrong = 0;
   if (rkb_check(own ? own : judges->unchanged, &options, &result, &err) != RKB_OK)
      fail_msg("%s: %s", path, err.message);
   const rkb_check_verdict_t *verdict = &result->verdicts[result->verdict_count - 1];
   if (strcmp(result->standing, standing) != 0) {
      print_error("%s: %s is %s: %s\n", path, verdict->stage, verdict->standing, verdict->message);
      wrong++;
   } else {
      if (says && !strstr(verdict->message, says)) {
         print_error("%s: the message does not say %s: %s\n", path, says, verdict->message);
         wrong++;
      }
      if (!says) {
         char *text; /* of an acceptance the certificate; else the message too */
         assert_true(asprintf(&text, "%s%s", verdict->certificate ? verdict->certificate : "",
                              strcmp(standing, "accept") == 0 ? "" : verdict->message) >= 0);
         wrong += hold_to(path, source, text);
         free(text);
         wrong += hold_evidence(path, source, verdict->evidence);
      }
   }
   rkb_check_result_free(result);
   rkb_pipeline_free(own);
   return wrong;
}

/* The source with another value of one macro; twin: MACRO VALUE => TEXT. */
static char *twin_of(const char *path, const char *source, const char *twin) {
   char *made, define[128];
   snprintf(define, sizeof define, "#define %.*s ", (int)strcspn(twin, " "), twin);
   const char *at = strstr(source, define);
   if (!at)
      fail_msg("%s: there is no %s", path, define);
   assert_true(asprintf(&made, "%.*s#define %.*s%s", (int)(at - source), source,
                        (int)(strstr(twin, " => ") - twin), twin, at + strcspn(at, "\n")) > 0);
   return made;
}

static int judge_under_secrets(const judges_t *judges, const char *path, const char *source,
                               const char *standing) {
   char *count = directive(source, "secrets", 0), text[RKB_HASH_TEXT];
   int wrong = 0;
   for (int n = 1; count && n <= atoi(count); n++) {
      rkb_secret_t secret;
      rkb_error_t err = {0};
      snprintf(text, sizeof text, "%064d", n);
      assert_int_equal(rkb_secret_read(text, &secret, &err), RKB_OK);
      wrong += judge_as(judges, path, source, &secret, standing, NULL);
   }
   free(count);
   return wrong;
}

static int judge(const judges_t *judges, const char *path) {
   char *source = kernel_of(path), *standing = directive(source, "standing", 0), *twin;
   assert_non_null(standing);
   int wrong = judge_as(judges, path, source, &rkb_secret_published, standing, NULL) +
               judge_under_secrets(judges, path, source, standing);
   for (int n = 0; (twin = directive(source, "twin", n)) != NULL; n++, free(twin)) {
      assert_non_null(strstr(twin, " => "));
      char *broken = twin_of(path, source, twin);
      wrong += judge_as(judges, path, broken, &rkb_secret_published, "reject", strstr(twin, " => ") + 4);
      free(broken);
   }
   free(standing);
   free(source);
   return wrong;
}

/* Of a folder's kernels the first and every second after it, or all where RKB_LONG is in the environment.  Under a sanitizer a judgement takes ten times
 * as long, and the sanitizer's checks do not depend on the number of kernels. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KERNELS_APART 4
#else
#define KERNELS_APART 2
#endif

static void judge_all(const char *pipeline_path, const char *kernels) {
   judges_t judges = {.path = pipeline_path, .unchanged = open_for(pipeline_path, "")};
   rkb_error_t err;
   glob_t files = {0};
   const size_t apart = rkb_long_tests() ? 1 : KERNELS_APART;
   int wrong = 0;
   assert_int_equal(rkb_log_open(RKB_LOG_WARN, false, NULL, &judges.log, &err), RKB_OK);
   assert_int_equal(glob(kernels, 0, NULL, &files), 0);
   for (size_t n = 0; n < files.gl_pathc; n += apart)
      wrong += judge(&judges, files.gl_pathv[n]);
   assert_int_equal(wrong, 0);
   globfree(&files);
   rkb_pipeline_free(judges.unchanged);
   rkb_log_close(judges.log);
}

static void no_claim_too_many(void **state) {
   (void)state;
   judge_all(CERTIFICATES "/pipeline.yaml", CERTIFICATES "/*.cu");
}

static void no_way_is_overlooked(void **state) {
   (void)state;
   judge_all(CERTIFICATES "/ways/pipeline.yaml", CERTIFICATES "/ways/*.cu");
}

static void sampled_blocks_are_judged(void **state) {
   (void)state;
   judge_all(SAMPLED "/pipeline.yaml", SAMPLED "/*.cu");
}

static void shapes_are_drawn_for_the_kernel(void **state) {
   (void)state;
   judge_all(SHAPES "/pipeline.yaml", SHAPES "/*.cu");
}

static void styles_are_admitted(void **state) {
   (void)state;
   judge_all(STYLES "/pipeline.yaml", STYLES "/*.cu");
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_claim_too_many), cmocka_unit_test(no_way_is_overlooked),
      cmocka_unit_test(shapes_are_drawn_for_the_kernel), cmocka_unit_test(sampled_blocks_are_judged),
      cmocka_unit_test(styles_are_admitted)};
   return RUN_TESTS(tests);
}
