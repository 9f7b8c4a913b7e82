/* Pipeline files and the messages about them: each cases/NAME.yaml has a NAME.expected with the problems, or with the resolved
 * form and the graph (case_files.h). */
#include "case_files.h"

#include "run/run_harness.h"

#define CASES RKB_SOURCE_DIR "/tests/pipeline/cases"

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
   add_shortened(&out, rkb_text_get(&said), CASES);
   if (pipeline) {
      rkb_text_add(&out, "--- resolved\n");
      add_shortened(&out, rkb_pipeline_text(pipeline), CASES);
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

static void test_cases(void **state) {
   (void)state;
   hold_cases(CASES, ".yaml", 6, describe);
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
