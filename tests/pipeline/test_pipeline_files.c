/* Pipeline files and the messages about them: each pipelines/cases/NAME.yaml has a NAME.expected with the problems, or with the
 * resolved form and the graph.  A new case is two new files; RKB_UPDATE_EXPECTED=1 writes the second. */
#include "run/run_harness.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"

#define CASES RKB_SOURCE_DIR "/tests/pipeline/cases"

/* The expected text has no paths of this tree. */
static void add_shortened(rkb_text_t *out, const char *text) {
   const char *at;
   while ((at = strstr(text, CASES "/")) != NULL) {
      rkb_text_append(out, text, (size_t)(at - text));
      text = at + strlen(CASES "/");
   }
   rkb_text_add(out, text);
}

static void describe_node(const rkb_graph_node_t *node, rkb_text_t *out) {
   static const char *const sections[] = {"", "propose", "screen", "evaluate", "strategy", "operators"};
   rkb_text_format(out, "%s %s", sections[node->section], node->id);
   if (node->section == RKB_IN_SCREEN || node->section == RKB_IN_EVALUATE) {
      rkb_text_add(out, " <-");
      for (const char *const *need = node->needs; need && *need; need++)
         rkb_text_format(out, " %s", *need);
   }
   rkb_text_format(out, "%s%s\n", node->shadow ? " (shadow)" : "",
                   node->stops_unknown ? " (stops unknown)" : "");
}

static char *describe(const char *path) {
   static const char *const plugins[] = {RKB_TEST_PLUGINS, NULL};
   rkb_pipeline_options_t options = {.path = path, .plugin_paths = plugins};
   rkb_problems_t problems;
   rkb_text_t said, out;
   rkb_problems_init(&problems);
   rkb_text_init(&said, 1 << 16);
   rkb_text_init(&out, 1 << 16);
   rkb_pipeline_t *pipeline = rkb_pipeline_open(&options, &problems);
   rkb_problems_write(&problems, &said);
   add_shortened(&out, rkb_text_get(&said));
   if (pipeline) {
      rkb_text_add(&out, "--- resolved\n");
      add_shortened(&out, rkb_pipeline_text(pipeline));
      rkb_text_add(&out, "--- graph\n");
      for (uint32_t i = 0; i < rkb_pipeline_node_count(pipeline); i++)
         describe_node(rkb_pipeline_node(pipeline, i), &out);
      for (uint32_t i = 0; i < rkb_pipeline_cell_count(pipeline); i++) {
         const rkb_pipeline_cell_t *cell = rkb_pipeline_cell(pipeline, i);
         rkb_text_format(&out, "cell %s (arm %s, seed %llu)\n", cell->name, cell->arm,
                         (unsigned long long)cell->seed);
      }
      rkb_pipeline_free(pipeline);
   }
   rkb_text_free(&said);
   rkb_problems_free(&problems);
   return rkb_text_take(&out);
}

static int is_case(const struct dirent *entry) {
   size_t length = strlen(entry->d_name);
   return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

static void test_cases(void **state) {
   struct dirent **entries = NULL;
   int count = scandir(CASES, &entries, is_case, alphasort), wrong = 0;
   (void)state;
   assert_true(count > 5);
   for (int i = 0; i < count; i++) {
      char expected_name[300], *expected = NULL;
      size_t length = 0;
      rkb_error_t err = {0};
      char *path = rkb_path_join(CASES, entries[i]->d_name);
      snprintf(expected_name, sizeof expected_name, "%.*s.expected", (int)strlen(path) - 5, path);
      char *got = describe(path);
      if (getenv("RKB_UPDATE_EXPECTED"))
         assert_int_equal(rkb_file_write(expected_name, got, strlen(got), &err), RKB_OK);
      if (rkb_file_read(expected_name, 1 << 20, &expected, &length, &err) != RKB_OK)
         fail_msg("%s: %s", entries[i]->d_name, err.message);
      if (strcmp(expected, got) != 0) {
         wrong++;
         print_message("%s: expected\n%s\ngot\n%s\n", entries[i]->d_name, expected, got);
      }
      free(expected);
      free(got);
      free(path);
      free(entries[i]);
   }
   free(entries);
   assert_int_equal(wrong, 0);
}

/* The resolved form opens to the same pipeline: what a run directory keeps is all that is needed to go on. */
static void test_resolved_form_is_the_same_pipeline(void **state) {
   char *scratch = scratch_make();
   (void)state;
   rkb_pipeline_t *first = open_pipeline(CASES "/extends.yaml", NULL);
   rkb_pipeline_t *second = open_text(scratch, "pipeline.yaml", rkb_pipeline_text(first), NULL);
   assert_string_equal(rkb_pipeline_text(first), rkb_pipeline_text(second));
   assert_string_equal(rkb_pipeline_hash(first), rkb_pipeline_hash(second));
   rkb_pipeline_free(first);
   rkb_pipeline_free(second);
   scratch_remove(scratch);
}

static void test_limits_are_no_part_of_the_hash(void **state) {
   static const char *const limits[] = {"limits.candidates=99", NULL}, *const seed[] = {"seed=99", NULL};
   (void)state;
   rkb_pipeline_t *plain = open_pipeline(CASES "/base.yaml", NULL),
                  *longer = open_pipeline(CASES "/base.yaml", limits);
   rkb_pipeline_t *other = open_pipeline(CASES "/base.yaml", seed);
   assert_string_equal(rkb_pipeline_hash(plain), rkb_pipeline_hash(longer));
   assert_string_not_equal(rkb_pipeline_hash(plain), rkb_pipeline_hash(other));
   rkb_pipeline_free(plain);
   rkb_pipeline_free(longer);
   rkb_pipeline_free(other);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cases),
      cmocka_unit_test(test_resolved_form_is_the_same_pipeline),
      cmocka_unit_test(test_limits_are_no_part_of_the_hash),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
