/* A build for a prediction has PTX alone, of the kernels of some launches; a plan that needs another kernel is refused by name. */
#include "kernel_fixture.h"

#include <stdlib.h>
#include <string.h>

typedef struct sides {
   rkb_compilers_t *pool;
   rkb_source_t *source;
   rkb_build_t *whole, *part;
} sides_t;

static void open_sides(sides_t *sides) {
   rkb_finding_t finding = {0};
   rkb_error_t err;
   size_t length;
   bool launched[2] = {false, false};
   char *text = fixture_read("candidates/rmsnorm.cu", &length);
   fixture_case_t odd;
   *sides = (sides_t){.pool = fixture_pool(1, NULL), .source = rkb_source_read(text)};
   free(text);
   fixture_rmsnorm(&odd, 3, 5, 37); /* launches the second kernel, without vectors */
   assert_int_equal(rkb_plan_mark_launched(sides->source->manifest, NULL, fixture_device("h200"), &odd.of,
                                           fixture_lookup, &odd, launched, &finding, &err),
                    RKB_OK);
   assert_string_equal(finding.reason, "");
   assert_false(launched[0]);
   assert_true(launched[1]);
   assert_int_equal(rkb_build_source(sides->pool, fixture_device("h200"), sides->source, NULL, 0, NULL, NULL,
                                     &sides->whole, NULL, &finding, &err),
                    RKB_OK);
   assert_int_equal(rkb_build_launched(sides->pool, fixture_device("h200"), sides->source, NULL, launched,
                                       NULL, NULL, &sides->part, &finding, &err),
                    RKB_OK);
   assert_non_null(sides->whole);
   assert_non_null(sides->part);
}

static void close_sides(sides_t *sides) {
   rkb_build_free(sides->whole);
   rkb_build_free(sides->part);
   rkb_source_free(sides->source);
   rkb_compilers_close(sides->pool);
}

static void only_what_is_launched_is_compiled(void **state) {
   sides_t sides;
   (void)state;
   open_sides(&sides);
   assert_int_equal(sides.part->kernel_count, 2); /* numbers as in the whole build */
   assert_string_equal(sides.part->kernels[0].expression, sides.whole->kernels[0].expression);
   assert_string_equal(sides.part->kernels[0].entry, "");
   assert_string_equal(sides.part->kernels[1].entry, sides.whole->kernels[1].entry);
   assert_int_equal(sides.part->kernels[1].parameter_count, 5);
   assert_int_equal(sides.part->kernels[1].registers, 0); /* the assembler alone knows them */
   assert_int_equal(sides.part->kernels[1].shared_bytes, 0);
   assert_null(sides.part->cubin);
   assert_non_null(strstr(sides.whole->ptx, sides.whole->kernels[0].entry));
   assert_null(strstr(sides.part->ptx, sides.whole->kernels[0].entry));
   close_sides(&sides);
}

static const char *reason_of_plan(const sides_t *sides, int64_t width) {
   fixture_case_t at;
   static char reason[48];
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   rkb_error_t err;
   fixture_rmsnorm(&at, 3, 5, width);
   assert_int_equal(rkb_plan_make(sides->source->manifest, NULL, sides->part, fixture_device("h200"), &at.of,
                                  fixture_lookup, &at, &plan, &finding, &err),
                    RKB_OK);
   assert_int_equal(plan == NULL, finding.reason[0] != '\0');
   memcpy(reason, finding.reason, sizeof reason);
   rkb_plan_free(plan);
   return reason;
}

static void other_launches_have_no_plan(void **state) {
   sides_t sides;
   (void)state;
   open_sides(&sides);
   assert_string_equal(reason_of_plan(&sides, 37), "");
   assert_string_equal(reason_of_plan(&sides, 64), "plan.kernel");
   close_sides(&sides);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(only_what_is_launched_is_compiled),
                                      cmocka_unit_test(other_launches_have_no_plan)};
   return RUN_TESTS(tests);
}
