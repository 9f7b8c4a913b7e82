/* Plugins of other versions of the interface in real pipelines (docs/decisions/plugin-versions.md): compiled against headers of
 * this program's past and future, and with sizes that lie. */
#include "run/run_harness.h"

#include <stdlib.h>
#include <string.h>
#include "base/file.h"

/* Opens a pipeline whose plugins come from the version plugins' folder, one object. */
static rkb_pipeline_t *open_with(const char *scratch, const char *object, const char *rest) {
   char text[2048];
   snprintf(text, sizeof text,
            "rkb: 1\nplugins: [\"%s/%s.so\"]\nobjective: {minimise: [distance.distance]}\n"
            "propose:\n  - use: test.translator.start\n    with: {values: [\"6\", \"10\"]}\n%s",
            RKB_VERSION_PLUGINS, object, rest);
   return open_text(scratch, "versions.yaml", text, NULL);
}

static void an_older_minor_runs(const char *object) {
   char *scratch = scratch_make();
   rkb_pipeline_t *pipeline =
      open_with(scratch, object,
                "screen:\n  - {use: old.verifier.most, with: {most: 9}}\n  - use: test.profiler.distance\n"
                "search:\n  use: old.strategy.first\n  window: 1\n  operators:\n"
                "    - {use: test.mutator.step, with: {children: 1, low: 1, high: 2}}\n");
   rkb_run_result_t outcome = run_pipeline(pipeline, scratch, 2, false);
   assert_string_equal(verdict_of(scratch, 1, "most"), "accept");
   assert_string_equal(verdict_of(scratch, 2, "most"), "reject old.too_much");
   assert_string_equal(verdict_of(scratch, 3, "most"),
                       "accept"); /* a child: the strategy asked and was told */
   assert_false(outcome.must_exit_hard);
   rkb_pipeline_free(pipeline);
   scratch_remove(scratch);
}

static void test_older_minors_run(void **state) {
   (void)state;
   an_older_minor_runs("from_1_0");
   an_older_minor_runs("from_1_1");
}

static void test_a_newer_minor_is_refused(void **state) {
   char *path = rkb_path_join(RKB_VERSION_PLUGINS, "from_next.so");
   const char *const first[] = {path, NULL};
   char expected[300];
   rkb_problems_t problems;
   rkb_text_t text;
   (void)state;
   snprintf(
      expected, sizeof expected,
      "it asks for plugin interface %d.%d, this program has %d.%d; update the program, or compile the plugin "
      "with this program's headers, or with -DRKB_ABI_MINIMUM=%d if it can do without what is newer",
      RKB_ABI_MAJOR, RKB_ABI_MINOR + 1, RKB_ABI_MAJOR, RKB_ABI_MINOR, RKB_ABI_MINOR);
   rkb_problems_init(&problems);
   rkb_text_init(&text, 1 << 16);
   rkb_registry_t *registry = rkb_registry_open(first, NULL, &problems);
   rkb_problems_write(&problems, &text);
   if (!strstr(rkb_text_get(&text), expected))
      fail_msg("expected '%s' in:\n%s", expected, rkb_text_get(&text));
   assert_null(rkb_registry_stage(registry, "bad.verifier.from_next", NULL));
   rkb_text_free(&text);
   rkb_registry_free(registry);
   rkb_problems_free(&problems);
   free(path);
}

/* A verifier that does its work: loaded, created, run, destroyed. */
static void test_what_fits_runs(void **state) {
   static const struct {
      const char *object, *verifier;
   } cases[] = {
      {"from_next_for_older", "from_next_for_older"},
      {"short_descriptor", "ends_before"},
      {"short_descriptor", "ends_inside"},
      {"long_argument", "long_argument"},
   };
   (void)state;
   for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      char *scratch = scratch_make(), screen[200];
      snprintf(screen, sizeof screen, "screen:\n  - use: bad.verifier.%s\n  - use: test.profiler.distance\n",
               cases[i].verifier);
      rkb_pipeline_t *pipeline = open_with(scratch, cases[i].object, screen);
      run_pipeline(pipeline, scratch, 2, false);
      rkb_pipeline_free(pipeline);
      if (strcmp(verdict_of(scratch, 1, cases[i].verifier), "accept") != 0)
         fail_msg("%s: %s", cases[i].verifier, verdict_of(scratch, 1, cases[i].verifier));
      scratch_remove(scratch);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_older_minors_run),
      cmocka_unit_test(test_a_newer_minor_is_refused),
      cmocka_unit_test(test_what_fits_runs),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
