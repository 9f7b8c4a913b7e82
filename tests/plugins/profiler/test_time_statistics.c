/* Estimates against data whose answer is known: outliers do not move the mean, intervals cover what they claim, clustered
 * data widens them, and the clock's resolution is a floor. */
#include "check.h"
#include <math.h>
#include "statistics.h"

static double uniform(uint64_t *state) {
   *state = *state * 6364136223846793005u + 1442695040888963407u;
   return (double)(*state >> 11) * 0x1p-53;
}

static void outliers_are_trimmed(void **state) {
   (void)state;
   double times[20];
   for (int i = 0; i < 20; i++)
      times[i] = i < 4 ? 1000 : 10;
   assert_true(trimmed_mean(times, 20) == 10);
   assert_true(trimmed_mean(times, 0) == 0);
}

/* 6 clusters of 20 samples around true_mean, each cluster shifted by up to spread. */
static samples_t clustered(double *times, size_t *counts, double true_mean, double spread, uint64_t *state) {
   for (size_t c = 0; c < 6; c++) {
      double shift = (uniform(state) - 0.5) * 2 * spread;
      counts[c] = 20;
      for (size_t i = 0; i < 20; i++)
         times[c * 20 + i] = true_mean + shift + (uniform(state) - 0.5) * 0.1;
   }
   return (samples_t){times, counts, 6};
}

static void intervals_cover_the_truth_of_clustered_data(void **state) {
   (void)state;
   uint64_t random = 7;
   int covered = 0;
   for (int trial = 0; trial < 100; trial++) {
      double times[120];
      size_t counts[6];
      samples_t s = clustered(times, counts, 10, 1, &random);
      estimate_t e = bootstrap_mean(&s, 0.01, 0, (uint64_t)trial);
      covered += e.low <= 10 && 10 <= e.high;
   }
   /* Six clusters make percentile intervals somewhat too narrow; samples taken for independent would cover under 20. */
   assert_in_range(covered, 85, 100);
}

static void a_shared_shift_cancels_in_the_ratio(void **state) {
   (void)state;
   double a[60], b[60];
   size_t counts[3] = {20, 20, 20};
   for (int c = 0; c < 3; c++)
      for (int i = 0; i < 20; i++) {
         double sitting = 1 + 0.2 * c;
         a[c * 20 + i] = 10 * sitting;
         b[c * 20 + i] = 5 * sitting;
      }
   samples_t sa = {a, counts, 3}, sb = {b, counts, 3};
   estimate_t ratio = bootstrap_ratio(&sa, &sb, 0.01, 0, 1), mean = bootstrap_mean(&sa, 0.01, 0, 1);
   assert_true(fabs(ratio.value - 2) < 1e-12 && ratio.high - ratio.low < 1e-9);
   assert_true(mean.high - mean.low > 1);
}

static void resolution_is_a_floor(void **state) {
   (void)state;
   double times[25];
   size_t counts[1] = {25};
   for (int i = 0; i < 25; i++)
      times[i] = 4;
   samples_t s = {times, counts, 1};
   estimate_t e = bootstrap_mean(&s, 0.01, 0.5, 1);
   assert_true(e.value == 4 && fabs((e.high - e.low) - 0.1) < 1e-12);
}

static void no_samples_give_no_number(void **state) {
   (void)state;
   samples_t s = {NULL, NULL, 0};
   assert_true(isnan(bootstrap_mean(&s, 0.01, 0.5, 1).value));
}

static void slow_work_is_timed_in_fewer_rounds(void **state) {
   (void)state;
   assert_int_equal(rounds_after(0.1, 5), 5);
   assert_int_equal(rounds_after(120, 5), 5);
   assert_int_equal(rounds_after(121, 5), 4);
   assert_int_equal(rounds_after(10000, 5), 2);
   assert_int_equal(rounds_after(10000, 1), 1);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(outliers_are_trimmed),
      cmocka_unit_test(intervals_cover_the_truth_of_clustered_data),
      cmocka_unit_test(a_shared_shift_cancels_in_the_ratio),
      cmocka_unit_test(resolution_is_a_floor),
      cmocka_unit_test(no_samples_give_no_number),
      cmocka_unit_test(slow_work_is_timed_in_fewer_rounds),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
