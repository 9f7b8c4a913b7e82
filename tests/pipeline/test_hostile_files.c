/* Hostile pipeline files are refused with places, and with at most as many problems as are kept.  No clock
 * here: a file that takes quadratic time runs into the test's own limit, and rkb-bench-validate prints the
 * milliseconds. */
#include "run/run_harness.h"
#include "hostile_documents.h"

#include <stdlib.h>
#include <string.h>
#include "base/file.h"

static void test_hostile_files_are_refused_with_places(void **state) {
   static const char *const plugins[] = {RKB_TEST_PLUGINS, NULL};
   char *scratch = scratch_make(), *path = rkb_path_join(scratch, "hostile.yaml");
   (void)state;
   for (size_t i = 0; i < hostile_count; i++) {
      const rkb_pipeline_options_t options = {.path = path, .plugin_paths = plugins};
      rkb_problems_t problems;
      rkb_text_t said;
      rkb_error_t err = {0};
      size_t length;
      char *bytes = hostile_text(&hostile_files[i], &length);
      assert_true(length > (1u << 20) - 256);
      assert_int_equal(rkb_file_write(path, bytes, length, &err), RKB_OK);
      rkb_problems_init(&problems);
      rkb_text_init(&said, 1 << 18);
      assert_null(rkb_pipeline_open(&options, &problems));
      rkb_problems_write(&problems, &said);
      const char *text = rkb_text_get(&said);
      if (strncmp(text, path, strlen(path)) != 0 ||
          strncmp(text + strlen(path), hostile_files[i].problem, strlen(hostile_files[i].problem)) != 0)
         fail_msg("%s: expected '%s' first in:\n%.400s", hostile_files[i].name, hostile_files[i].problem,
                  text);
      assert_true(problems.count <= RKB_PROBLEMS_KEPT);
      rkb_text_free(&said);
      rkb_problems_free(&problems);
      free(bytes);
   }
   free(path);
   scratch_remove(scratch);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(test_hostile_files_are_refused_with_places)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
