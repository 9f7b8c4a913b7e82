/* core/statistics against published values, against counting everything out, and on drawn samples with and without an effect. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/random.h"
#include "statistics/paired_test.h"
#include "statistics/step_curve.h"
#include "statistics/summary.h"

#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof *(list)))

static void assert_close(double got, double want, double within) {
   if (!(fabs(got - want) <= within))
      fail_msg("got %.9g, want %.9g within %g", got, want, within);
}

/* Darwin's maize, in eighths of an inch (Fisher, The Design of Experiments, 1935): W+ = 96, p = 0.04126.  Depression scores of nine
 * patients (Hollander and Wolfe 1973, section 3.1): W+ = 40, one-sided p = 0.01953. */
static void test_signed_rank_published(void **state) {
   static const double maize[] = {49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48};
   static const double before[] = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30},
                       after[] = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
   double differences[COUNT(before)];
   (void)state;
   rkb_signed_rank_t test = rkb_signed_rank(maize, COUNT(maize));
   assert_close(test.positive, 96, 0);
   assert_close(test.p, 0.04126, 0.000005);
   for (uint32_t i = 0; i < COUNT(before); i++)
      differences[i] = before[i] - after[i];
   test = rkb_signed_rank(differences, COUNT(differences));
   assert_close(test.positive, 40, 0);
   assert_close(test.p, 2 * 0.01953125, 1e-12);
   assert_true(test.exact);
}

/* Counts every assignment of signs, with shared ranks computed from their definition. */
static double counted_out(const double *differences, uint32_t count) {
   double ranks[16], sum = 0, total = 0;
   uint32_t extreme = 0;
   for (uint32_t i = 0; i < count; i++) {
      ranks[i] = 0.5;
      for (uint32_t j = 0; j < count; j++)
         ranks[i] += fabs(differences[j]) < fabs(differences[i])    ? 1
                     : fabs(differences[j]) == fabs(differences[i]) ? 0.5
                                                                    : 0;
      total += ranks[i];
      sum += differences[i] > 0 ? ranks[i] : 0;
   }
   for (uint32_t signs = 0; signs < 1u << count; signs++) {
      double other = 0;
      for (uint32_t i = 0; i < count; i++)
         other += signs >> i & 1 ? ranks[i] : 0;
      extreme += fabs(other - total / 2) >= fabs(sum - total / 2) - 1e-9;
   }
   return extreme / (double)(1u << count);
}

static void test_signed_rank_ties(void **state) {
   static const double lists[][8] = {{1, 1, 1, -1, 2, 2, -3, 4},
                                     {INFINITY, INFINITY, -INFINITY, 2, 3, -1, 4, 5},
                                     {-5, -5, -5, -5, -5, -5, -5, -5},
                                     {0.5, -0.5, 0.5, -0.5, 0.5, -0.5, 0.5, -0.5}};
   static const double with_equal[] = {0, 3, 0, -1, 2, 0, 5, 4}, without[] = {3, -1, 2, 5, 4};
   (void)state;
   for (uint32_t i = 0; i < COUNT(lists); i++)
      assert_close(rkb_signed_rank(lists[i], 8).p, counted_out(lists[i], 8), 1e-12);
   assert_close(rkb_signed_rank(with_equal, 8).p, counted_out(without, 5), 1e-12);
   assert_int_equal(rkb_signed_rank(with_equal, 8).pairs, 5);
   assert_close(rkb_signed_rank(with_equal, 1).p, 1, 0);
   assert_close(rkb_signed_rank(with_equal, 0).p, 1, 0);
   assert_close(rkb_signed_rank(lists[2], 5).p, 0.0625, 1e-12);
   assert_close(rkb_signed_rank(lists[2], 5).least_p, 0.0625, 1e-12);
}

/* The normal approximation begins where the exact distribution is nearly normal. */
static void test_signed_rank_many(void **state) {
   double differences[RKB_SIGNED_RANK_EXACT + 1];
   rkb_random_t stream = rkb_random_stream(3, "many", 0, 0);
   (void)state;
   for (uint32_t i = 0; i < COUNT(differences); i++)
      differences[i] = rkb_random_normal(&stream) + 0.2;
   rkb_signed_rank_t exact = rkb_signed_rank(differences, RKB_SIGNED_RANK_EXACT);
   rkb_signed_rank_t normal = rkb_signed_rank(differences, RKB_SIGNED_RANK_EXACT + 1);
   assert_true(exact.exact && !normal.exact);
   if (!(exact.p > 0.001 && exact.p < 0.5))
      fail_msg("p is %g: choose another sample", exact.p);
   assert_close(normal.p, exact.p, 0.15 * exact.p);
}

static uint32_t found_in_samples(double effect, uint32_t samples) {
   uint32_t found = 0;
   for (uint32_t sample = 0; sample < samples; sample++) {
      rkb_random_t stream = rkb_random_stream(17, "samples", sample, 0);
      double differences[20];
      for (uint32_t i = 0; i < COUNT(differences); i++)
         differences[i] = rkb_random_normal(&stream) + effect;
      found += rkb_signed_rank(differences, COUNT(differences)).p < 0.05;
   }
   return found;
}

/* With 20 pairs, an advantage of one standard deviation is nearly always found, and an advantage that does not exist in one of
 * twenty trials. */
static void test_planted_advantage(void **state) {
   (void)state;
   const uint32_t planted = found_in_samples(1, 1000), none = found_in_samples(0, 1000);
   assert_true(planted > 950);
   assert_true(none > 20 && none < 75);
}

/* Binomial sums by hand; and many pairs, where the powers of two alone would overflow. */
static void test_sign_test(void **state) {
   (void)state;
   assert_close(rkb_sign_test(0, 0), 1, 1e-12);
   assert_close(rkb_sign_test(2, 0), 0.5, 1e-12);
   assert_close(rkb_sign_test(1, 6), 2 * (1 + 7) / 128.0, 1e-12);
   assert_close(rkb_sign_test(6, 1), 2 * (1 + 7) / 128.0, 1e-12);
   assert_close(rkb_sign_test(3, 3), 1, 1e-12);
   assert_true(rkb_sign_test(1000, 1200) < 1e-4 && rkb_sign_test(1000, 1200) > 1e-6);
   assert_true(rkb_sign_test(0, 5000) >= 0);
}

static void test_holm(void **state) {
   static const double p[] = {0.01, 0.04, 0.03, 0.005}, want[] = {0.03, 0.06, 0.06, 0.02},
                       large[] = {0.9, 0.8};
   double adjusted[4];
   (void)state;
   rkb_holm(p, 4, adjusted);
   for (int i = 0; i < 4; i++)
      assert_close(adjusted[i], want[i], 1e-12);
   rkb_holm(large, 2, adjusted);
   assert_close(adjusted[0], 1, 0);
   assert_close(adjusted[1], 1, 0);
   rkb_holm(p, 0, adjusted);
}

static void test_summaries(void **state) {
   static const double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};
   (void)state;
   assert_close(rkb_median(odd, 3), 2, 0);
   assert_close(rkb_median(even, 4), 2.5, 0);
   assert_close(rkb_mean(even, 4), 2.5, 0);
   assert_true(isnan(rkb_mean(odd, 0)) && isnan(rkb_median(odd, 0)));
   rkb_interval_t two = rkb_bootstrap(RKB_STATISTIC_MEAN, odd, NULL, 2);
   assert_close(two.estimate, 2, 0);
   assert_true(isnan(two.low) && isnan(two.high));
}

/* The interval of a mean is near the theoretical one, is the same each time, and holds the true mean about as
 * often as it says.  The percentile bootstrap is known to be too narrow for few values (about 0.93 for
 * 30). */
static void test_bootstrap(void **state) {
   double values[30];
   uint32_t held = 0;
   (void)state;
   for (uint32_t sample = 0; sample < 100; sample++) {
      rkb_random_t stream = rkb_random_stream(5, "bootstrap", sample, 0);
      double squares = 0;
      for (uint32_t i = 0; i < COUNT(values); i++)
         values[i] = rkb_random_normal(&stream);
      rkb_interval_t interval = rkb_bootstrap(RKB_STATISTIC_MEAN, values, NULL, COUNT(values));
      held += interval.low <= 0 && interval.high >= 0;
      for (uint32_t i = 0; i < COUNT(values); i++)
         squares += (values[i] - interval.estimate) * (values[i] - interval.estimate);
      const double theory = 1.96 * sqrt(squares) / COUNT(values); /* by the sample as the distribution */
      assert_close(0.5 * (interval.high - interval.low), theory, 0.06 * theory);
      rkb_interval_t again = rkb_bootstrap(RKB_STATISTIC_MEAN, values, NULL, COUNT(values));
      assert_true(again.low == interval.low && again.high == interval.high);
   }
   assert_true(held >= 85 && held <= 99);
}

/* Two subjects of very different values: within strata the mean hardly varies. */
static void test_strata(void **state) {
   static const double values[] = {1, 100, 1.1, 101, 0.9, 99};
   static const uint32_t strata[] = {7, 3, 7, 3, 7, 3};
   (void)state;
   rkb_interval_t within = rkb_bootstrap(RKB_STATISTIC_MEAN, values, strata, 6);
   rkb_interval_t across = rkb_bootstrap(RKB_STATISTIC_MEAN, values, NULL, 6);
   assert_close(within.estimate, 50.5, 1e-9);
   assert_true(within.high - within.low < 2);
   assert_true(across.high - across.low > 50);
}

static double itself(double value, double argument) {
   return value * argument;
}

static void test_step_curve(void **state) {
   rkb_step_curve_t curve = {0};
   (void)state;
   assert_close(rkb_step_curve_mean(&curve, 10, itself, 1), 0, 0);
   rkb_step_curve_add(&curve, 2, 8);
   rkb_step_curve_add(&curve, 4, 6);
   rkb_step_curve_add(&curve, 3, 5); /* what was spent never shrinks */
   assert_close(rkb_step_curve_at(&curve, 1.9, -1), -1, 0);
   assert_close(rkb_step_curve_at(&curve, 2, -1), 8, 0);
   assert_close(rkb_step_curve_at(&curve, 100, -1), 5, 0);
   assert_close(rkb_step_curve_mean(&curve, 10, itself, 2), 2 * (2 * 8 + 6 * 5) / 10.0, 1e-12);
   assert_close(rkb_step_curve_mean(&curve, 3, itself, 1), 8 / 3.0, 1e-12);
   assert_close(rkb_step_curve_mean(&curve, 0, itself, 1), 0, 0);
   rkb_step_curve_free(&curve);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_signed_rank_published),
      cmocka_unit_test(test_signed_rank_ties),
      cmocka_unit_test(test_signed_rank_many),
      cmocka_unit_test(test_planted_advantage),
      cmocka_unit_test(test_sign_test),
      cmocka_unit_test(test_holm),
      cmocka_unit_test(test_summaries),
      cmocka_unit_test(test_bootstrap),
      cmocka_unit_test(test_strata),
      cmocka_unit_test(test_step_curve),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
