/* The task filter's statistics on small tensors whose answers are known.  One thread. */
#include "check.h"
#include "task/filter.h"

#include <math.h>
#include <string.h>

static void spread_over_seeds_is_that_of_the_most_varied_element(void **state) {
   (void)state;
   const double values[] = {1, 5, 0, /* run 0 */ 1, 7, 0, /* run 1 */ 1, 9, 0 /* run 2 */};
   assert_true(fabs(rkb_filter_seed_spread(values, 3, 3) - 2) < 1e-12);
   assert_true(rkb_filter_seed_spread(values, 1, 3) == 0);
}

static void spread_along_an_axis_ignores_the_others(void **state) {
   (void)state;
   const int64_t shape[] = {2, 3, 2};
   double values[12];
   for (int i = 0; i < 12; i++)
      values[i] = i / 6; /* changes along axis 0 alone */
   assert_true(fabs(rkb_filter_axis_spread(values, shape, 3, 0) - sqrt(0.5)) < 1e-12);
   assert_true(rkb_filter_axis_spread(values, shape, 3, 1) == 0);
   assert_true(rkb_filter_axis_spread(values, shape, 3, 2) == 0);
   for (int i = 0; i < 12; i++)
      values[i] = i % 2;
   assert_true(rkb_filter_axis_spread(values, shape, 3, 0) == 0);
   assert_true(rkb_filter_axis_spread(values, shape, 3, 2) > 0.7);
}

static void largest_is_of_the_magnitude(void **state) {
   (void)state;
   const double values[] = {0.001, -0.02, 0.01};
   assert_true(rkb_filter_largest(values, 3) == 0.02);
}

static void one_failure_makes_a_task_not_worth_it(void **state) {
   (void)state;
   rkb_filter_t filter = {.task = "t", .judged = "bench/b"};
   filter.findings[RKB_FILTER_INITS].result = RKB_FILTER_UNDECIDED;
   assert_true(rkb_filter_worth(&filter));
   filter.findings[RKB_FILTER_AXES].result = RKB_FILTER_FAILED;
   strcpy(filter.findings[RKB_FILTER_AXES].what, "y, axis 1");
   assert_false(rkb_filter_worth(&filter));
   rkb_text_t text;
   rkb_text_init(&text, 4096);
   rkb_filter_write(&filter, &text);
   assert_non_null(strstr(rkb_text_get(&text), "axes     failed     y, axis 1"));
   assert_non_null(strstr(rkb_text_get(&text), "t: not worth optimising"));
   rkb_text_free(&text);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(spread_over_seeds_is_that_of_the_most_varied_element),
      cmocka_unit_test(spread_along_an_axis_ignores_the_others),
      cmocka_unit_test(largest_is_of_the_magnitude),
      cmocka_unit_test(one_failure_makes_a_task_not_worth_it),
   };
   return RUN_TESTS(tests);
}
