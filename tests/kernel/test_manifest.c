/* Manifests, good and bad: a new case is a new file in manifests/.  good_*.cu is read without a problem;
 * bad_*.cu ends (or begins) with `// expect: [LINE:[COLUMN:]] TEXT` lines, each of which one problem's
 * "line:column: message" must contain. */
#include "kernel_fixture.h"
#include "kernel/manifest.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

/* wanted: "12:3: text", "12: text" or "text". */
static bool mentioned(const rkb_problems_t *problems, const char *wanted) {
   const size_t digits = strspn(wanted, "0123456789:"); /* "12:3:" */
   const char *text = wanted + digits + strspn(wanted + digits, " ");
   for (uint32_t i = 0; i < problems->count; i++) {
      char place[64];
      snprintf(place, sizeof place, "%u:%u:", problems->list[i].line, problems->list[i].column);
      if (strncmp(place, wanted, digits) == 0 && strstr(problems->list[i].message, text))
         return true;
   }
   return false;
}

static uint32_t check(const char *path) {
   const char *name = strrchr(path, '/') + 1;
   char relative[256], *source, *at, *line;
   rkb_problems_t problems;
   rkb_manifest_t *manifest;
   size_t length;
   uint32_t failed = 0;
   snprintf(relative, sizeof relative, "manifests/%s", name);
   source = fixture_read(relative, &length);
   rkb_problems_init(&problems);
   manifest = rkb_manifest_parse(name, source, length, &problems);
   if ((strncmp(name, "good_", 5) == 0) != (manifest != NULL)) {
      print_message("%s is %s\n", name, manifest ? "accepted" : "refused");
      failed = 1;
   }
   for (at = source; (at = strstr(at, "// expect: ")) != NULL; at = line + 1) {
      at += strlen("// expect: ");
      line = strchr(at, '\n');
      *line = '\0';
      if (!mentioned(&problems, at)) {
         print_message("%s: no problem says '%s'\n", name, at);
         failed = 1;
      }
   }
   for (uint32_t i = 0; failed && i < problems.count; i++)
      print_message("   %s:%u:%u: %s\n", name, problems.list[i].line, problems.list[i].column,
                    problems.list[i].message);
   rkb_manifest_free(manifest);
   rkb_problems_free(&problems);
   free(source);
   return failed;
}

static void each_file_reads_as_it_says(void **state) {
   uint32_t failed = 0;
   glob_t found;
   (void)state;
   assert_int_equal(glob(RKB_SOURCE_DIR "/tests/kernel/manifests/*.cu", 0, NULL, &found), 0);
   for (size_t i = 0; i < found.gl_pathc; i++)
      failed += check(found.gl_pathv[i]);
   globfree(&found);
   assert_int_equal(failed, 0);
}

static void everything_is_kept(void **state) {
   size_t length;
   char *source = fixture_read("manifests/good_everything.cu", &length), name[64];
   rkb_problems_t problems;
   rkb_manifest_t *public;
   const manifest_t *manifest;
   const int64_t values[] = {128, 1};
   (void)state;
   rkb_problems_init(&problems);
   public = rkb_manifest_parse("everything", source, length, &problems);
   assert_non_null(public);
   manifest = (const manifest_t *)public;
   assert_string_equal(public->task, "llama_rmsnorm");
   assert_string_equal(public->direction, "backward");
   assert_true(public->transform);
   assert_int_equal(public->tune_count, 2);
   assert_int_equal(public->tune[1].choices[1], 4);
   assert_int_equal(public->tune[0].line, 8);
   assert_int_equal(public->tune[0].column, 3);
   assert_int_equal(public->launch_count, 2);
   assert_string_equal(public->launches[0].when, "D % VEC == 0 and rows > 1");
   assert_string_equal(public->launches[0].grid, "ceildiv(D, BLOCK), min(rows, 65535)");
   assert_true(public->launches[1].is_else && public->launches[1].cooperative);
   assert_int_equal(public->comment_start, strstr(source, "/* rkb") - source);
   assert_memory_equal(source + public->comment_start + public->comment_length - 2, "*/", 2);
   assert_int_equal(manifest->let_count, 2);
   assert_int_equal(manifest->scratch_count, 2);
   assert_true(manifest->scratch[0].init.declared && !manifest->scratch[1].init.declared);
   assert_int_equal(manifest->fill_count, 2);
   assert_float_equal(manifest->fills[1].fill.value, 1.5, 0);
   assert_int_equal(manifest->launches[0].grid_count, 2);
   assert_int_equal(manifest->launches[0].argument_count, 6);
   assert_string_equal(manifest->launches[0].arguments[1].head, "x");
   assert_non_null(manifest->launches[0].arguments[1].tail);
   assert_true(manifest->launches[0].arguments[5].null);
   assert_int_equal(rkb_expression_place(manifest->launches[0].grid[1]).column, 31);
   assert_true(manifest_kernel_expression(manifest, &manifest->launches[0], values, name, sizeof name));
   assert_string_equal(name, "first<128, 1>");
   rkb_manifest_free(public);
   rkb_problems_free(&problems);
   free(source);
}

static void assignments_are_resolved(void **state) {
   size_t length;
   char *source = fixture_read("manifests/good_everything.cu", &length), *canonical;
   rkb_problems_t problems;
   rkb_manifest_t *manifest;
   rkb_finding_t finding;
   rkb_error_t err;
   int64_t values[2];
   (void)state;
   rkb_problems_init(&problems);
   manifest = rkb_manifest_parse("everything", source, length, &problems);
   assert_int_equal(rkb_tune_resolve(manifest, "{\"VEC\": 1}", values, &finding, &err), RKB_OK);
   assert_string_equal(finding.reason, "");
   canonical = rkb_tune_canonical(manifest, values);
   assert_string_equal(canonical, "{\"BLOCK\":256,\"VEC\":1}");
   free(canonical);
   assert_int_equal(rkb_tune_resolve(manifest, "{\"VEC\": 3}", values, &finding, &err), RKB_OK);
   assert_string_equal(finding.reason, "plan.tune");
   assert_int_equal(rkb_tune_resolve(manifest, "{\"BLOK\": 64}", values, &finding, &err), RKB_OK);
   assert_non_null(strstr(finding.message, "did you mean 'BLOCK'"));
   assert_int_equal(rkb_tune_resolve(manifest, "{\"VEC\": \"1\"}", values, &finding, &err), RKB_OK);
   assert_string_equal(finding.reason, "plan.tune");
   assert_int_not_equal(rkb_tune_resolve(manifest, "[1]", values, &finding, &err), RKB_OK);
   rkb_manifest_free(manifest);
   rkb_problems_free(&problems);
   free(source);
}

/* What is read once for everybody says the same as reading it anew, and stays until the last holder lets go. */
static void reading_once_gives_the_same(void **state) {
   static const char *const files[] = {"manifests/good_everything.cu", "manifests/bad_no_manifest.cu",
                                       "manifests/bad_yaml_map_as_shared.cu"};
   (void)state;
   for (size_t n = 0; n < sizeof files / sizeof *files; n++) {
      char again[RKB_HASH_TEXT], once[RKB_HASH_TEXT];
      rkb_problems_t problems;
      size_t length;
      char *text = fixture_read(files[n], &length);
      rkb_problems_init(&problems);
      rkb_manifest_t *manifest = rkb_manifest_parse("candidate.cu", text, length, &problems);
      rkb_source_t *source = rkb_source_read(text);
      assert_non_null(source);
      rkb_source_hash(source, once);
      rkb_tokens_hash(text, length, again);
      assert_string_equal(once, again);
      assert_int_equal(source->manifest != NULL, manifest != NULL);
      assert_int_equal(source->problems.count, problems.count);
      for (uint32_t i = 0; i < problems.count; i++)
         assert_string_equal(source->problems.list[i].message, problems.list[i].message);
      rkb_manifest_t *held = rkb_manifest_ref(source->manifest);
      assert_ptr_equal(held, source->manifest);
      rkb_source_free(source);
      if (held)
         assert_string_equal(held->task, manifest->task);
      rkb_manifest_free(held);
      rkb_manifest_free(manifest);
      rkb_problems_free(&problems);
      free(text);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(reading_once_gives_the_same),
      cmocka_unit_test(each_file_reads_as_it_says),
      cmocka_unit_test(everything_is_kept),
      cmocka_unit_test(assignments_are_resolved),
   };
   return RUN_TESTS(tests);
}
