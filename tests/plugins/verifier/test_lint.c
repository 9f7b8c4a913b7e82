/* rkb.verifier.lint: every rule on the files of tests/plugins/verifier/lint, and the verdicts that follow. */
#include "fake.h"
#include <dirent.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include "kernel/kernel.h"
#include "lint/rules.h"

enum { LINES_MAX = 256 };

static const rkb_tensor_t TENSORS[] = {
   {.name = "x", .role = RKB_IN}, {.name = "weight", .role = RKB_IN}, {.name = "y", .role = RKB_OUT}};
static const rkb_kernel_api_t KERNEL = {.size = sizeof KERNEL,
                                        .tokens = rkb_tokens_new,
                                        .tokens_at = rkb_tokens_at,
                                        .tokens_free = rkb_tokens_free};

/* Lines where the rule found something, and lines that a // HERE marks. */
static void lines_of(const lint_report_t *report, const char *rule, bool found[LINES_MAX], uint32_t *count) {
   *count = 0;
   for (uint32_t i = 0; i < report->count; i++) {
      if (strcmp(report->findings[i].rule->name, rule) != 0)
         continue;
      assert_in_range(report->findings[i].line, 1, LINES_MAX - 1);
      found[report->findings[i].line] = true;
      ++*count;
   }
}

static uint32_t marked_lines(const char *text, bool marked[LINES_MAX]) {
   uint32_t line = 1, count = 0;
   for (const char *at = text; *at; at++) {
      if (strncmp(at, "// HERE", 7) == 0) {
         marked[line] = true;
         count++;
      }
      line += *at == '\n';
   }
   return count;
}

static void run_rules(const char *text, lint_report_t *report) {
   source_t source;
   functions_t functions;
   rkb_problems_t problems;
   rkb_error_t err;
   rkb_problems_init(&problems);
   rkb_manifest_t *manifest = rkb_manifest_parse("test.cu", text, strlen(text), &problems);
   assert_non_null(manifest);
   assert_int_equal(source_open(&source, &KERNEL, text, strlen(text), &err), RKB_OK);
   assert_int_equal(functions_find(&source, &functions, &err), RKB_OK);
   lint_run(&(lint_subject_t){&source, &functions, &KERNEL, manifest, TENSORS, 3, "fp32"}, report);
   functions_free(&functions);
   source_close(&source);
   rkb_manifest_free(manifest);
   rkb_problems_free(&problems);
}

static void check_file(const char *name, const char *rule, bool fires) {
   char path[512];
   lint_report_t report;
   bool found[LINES_MAX] = {false}, marked[LINES_MAX] = {false};
   uint32_t count;
   snprintf(path, sizeof path, "tests/plugins/verifier/lint/%s", name);
   char *text = fake_read(path);
   run_rules(text, &report);
   lines_of(&report, rule, found, &count);
   if (fires != (count > 0))
      fail_msg("%s: %u findings of %s", name, count, rule);
   if (fires && marked_lines(text, marked) > 0)
      for (uint32_t line = 1; line < LINES_MAX; line++)
         if (found[line] != marked[line])
            fail_msg("%s:%u: %s", name, line,
                     found[line] ? "found, and not marked" : "marked, and not found");
   free(text);
}

/* Checks the files of one rule; the number of them, firing or quiet. */
static uint32_t check_rule(const char *rule, bool fires) {
   uint32_t count = 0;
   char prefix[96];
   snprintf(prefix, sizeof prefix, "%s.%s", rule, fires ? "fires" : "quiet");
   DIR *directory = opendir(RKB_SOURCE_DIR "/tests/plugins/verifier/lint");
   assert_non_null(directory);
   for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
      if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
         continue;
      check_file(entry->d_name, rule, fires);
      count++;
   }
   closedir(directory);
   return count;
}

static void every_rule_fires_and_rests(void **state) {
   (void)state;
   for (uint32_t i = 0; i < LINT_RULE_COUNT; i++) {
      if (check_rule(LINT_RULES[i].name, true) == 0 || check_rule(LINT_RULES[i].name, false) == 0)
         fail_msg("rule %s needs a file that fires and one that is quiet", LINT_RULES[i].name);
      assert_true(strlen(LINT_RULES[i].why) > 20);
   }
}

static void expect(const char *path, const char *standing, const char *reason) {
   fake_t fake;
   char *text = fake_read(path);
   fake_open(&fake, "verifier/lint");
   memcpy(fake.tensors, TENSORS, sizeof TENSORS);
   fake.a_case.tensor_count = 3;
   fake_start(&fake, NULL);
   rkb_item_t *candidate = fake_candidate(&fake, 1, text, "{}");
   assert_int_equal(fake_run(&fake, candidate), RKB_OK);
   assert_int_equal(fake.emitted_count, 1);
   assert_string_equal(fake_text(&fake, 0, "standing"), standing);
   assert_string_equal(fake_text(&fake, 0, "reason"), reason);
   fake_drop(candidate);
   fake_close(&fake);
   free(text);
}

static void verdicts_follow_the_worst(void **state) {
   (void)state;
   expect("tests/plugins/verifier/lint/clock.fires.cu", "reject", "lint.clock");
   expect("tests/plugins/verifier/lint/trap.fires.cu", "suspect", "lint.trap");
   expect("tests/plugins/verifier/lint/unused_argument.fires.cu", "accept", "");
   expect("tests/plugins/verifier/lint/unread_input.quiet.cu", "accept", "");
}

static void a_bad_manifest_is_a_reject(void **state) {
   (void)state;
   fake_t fake;
   fake_open(&fake, "verifier/lint");
   fake_start(&fake, NULL);
   rkb_item_t *candidate = fake_candidate(&fake, 1, "__global__ void k() {}", "{}");
   assert_int_equal(fake_run(&fake, candidate), RKB_OK);
   assert_string_equal(fake_text(&fake, 0, "standing"), "reject");
   fake_drop(candidate);
   fake_close(&fake);
}

/* No rule above a note may fire on the seeds that a person wrote, and they leave no parameter unused. */
static void seeds_are_clean(void **state) {
   (void)state;
   glob_t found;
   assert_int_equal(glob(RKB_SOURCE_DIR "/tasks/*/seeds/*/*.cu", 0, NULL, &found), 0);
   for (size_t i = 0; i < found.gl_pathc; i++) {
      lint_report_t report;
      char *text = fake_read(found.gl_pathv[i] + strlen(RKB_SOURCE_DIR) + 1);
      run_rules(text, &report);
      for (uint32_t f = 0; f < report.count; f++) {
         const lint_finding_t *finding = &report.findings[f];
         if (finding->rule->severity != LINT_NOTE || strcmp(finding->rule->name, "unused_argument") == 0)
            fail_msg("%s:%u: %s: %s", found.gl_pathv[i], finding->line, finding->rule->name, finding->what);
      }
      free(text);
   }
   globfree(&found);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_rule_fires_and_rests),
      cmocka_unit_test(verdicts_follow_the_worst),
      cmocka_unit_test(a_bad_manifest_is_a_reject),
      cmocka_unit_test(seeds_are_clean),
   };
   return RUN_TESTS(tests);
}
