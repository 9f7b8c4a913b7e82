/* Random streams against the published answers of Philox, and the distributions drawn from them.  One thread. */
#include "check.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

/* The known-answer vectors that Random123 publishes for philox4x32-10 (tests/kat_vectors). */
static void philox_gives_the_published_answers(void **state) {
   static const struct {
      uint32_t counter[4], key[2], out[4];
   } vectors[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
   };
   (void)state;
   for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
      uint32_t out[4];
      rkb_philox(vectors[i].counter, vectors[i].key, out);
      assert_memory_equal(out, vectors[i].out, sizeof out);
   }
}

static void streams_depend_on_every_part_of_their_key(void **state) {
   (void)state;
   const rkb_random_t streams[] = {rkb_random_stream(1, "tune", 0, 0),  rkb_random_stream(2, "tune", 0, 0),
                                   rkb_random_stream(1, "tuna", 0, 0),  rkb_random_stream(1, "tune", 1, 0),
                                   rkb_random_stream(1, "tune", -1, 0), rkb_random_stream(1, "tune", 0, 1)};
   for (size_t i = 0; i < 6; i++) {
      for (size_t j = 0; j < i; j++)
         assert_true(rkb_random_at(&streams[i], 0) != rkb_random_at(&streams[j], 0));
   }
   rkb_random_t again = rkb_random_stream(1, "tune", 0, 0);
   assert_true(rkb_random_next(&again) == rkb_random_at(&streams[0], 0));
}

/* Pinned: a run's archive is reproducible only while these never change. */
static void streams_stay_what_they_are(void **state) {
   (void)state;
   rkb_random_t stream = rkb_random_stream(1, "inputs", 42, 3);
   assert_true(rkb_random_next(&stream) == UINT64_C(0x7dc36e4aa8a058b));
   assert_true(rkb_random_normal(&stream) == 0x1.024e9400ab11ap+1);
}

static void every_way_to_draw_agrees(void **state) {
   (void)state;
   rkb_random_t stream = rkb_random_stream(7, "fill", 0, 0);
   uint64_t one_by_one[200], filled[200];
   for (size_t i = 0; i < 200; i++)
      one_by_one[i] = rkb_random_next(&stream);
   for (size_t from = 0; from < 40; from++) {
      for (size_t count = 0; from + count <= 200; count += 13) {
         memset(filled, 0, sizeof filled);
         rkb_random_fill(&stream, from, count, filled);
         assert_memory_equal(filled, one_by_one + from, count * sizeof filled[0]);
      }
   }
   assert_int_equal(stream.position, 200);
   assert_true(rkb_random_normal_at(&stream, 5) == rkb_random_normal_of(one_by_one[5]));
}

static void below_is_in_range_and_even(void **state) {
   (void)state;
   rkb_random_t stream = rkb_random_stream(3, "below", 0, 0);
   unsigned seen[6] = {0};
   for (int i = 0; i < 60000; i++)
      seen[rkb_random_below(&stream, 6)]++;
   for (int i = 0; i < 6; i++)
      assert_in_range(seen[i], 9600, 10400); /* 4.4 standard deviations */
   assert_int_equal(rkb_random_below(&stream, 0), 0);
   assert_int_equal(rkb_random_below(&stream, 1), 0);
   /* With a limit just over 2^63 almost half of the draws are rejected. */
   for (int i = 0; i < 1000; i++)
      assert_true(rkb_random_below(&stream, (UINT64_C(1) << 63) + 1) <= UINT64_C(1) << 63);
}

static void reals_lie_in_the_unit_interval(void **state) {
   (void)state;
   rkb_random_t stream = rkb_random_stream(3, "real", 0, 0);
   double sum = 0;
   for (int i = 0; i < 100000; i++) {
      double value = rkb_random_real(&stream);
      assert_true(value >= 0 && value < 1);
      sum += value;
   }
   assert_true(fabs(sum / 100000 - 0.5) < 0.004);
}

/* The draw whose uniform number is p. */
static double normal_at_probability(double p) {
   return rkb_random_normal_of((uint64_t)(p * 0x1p52) << 12);
}

static void normals_invert_the_distribution(void **state) {
   (void)state;
   /* P(Z < z) = erfc(-z / sqrt 2) / 2, from the C library, against the inverse. */
   for (double p = 1e-12; p < 1; p = p < 0.01 ? p * 3 : p + 0.0137) {
      double uniform = (floor(p * 0x1p52) + 0.5) * 0x1p-52;
      double back = 0.5 * erfc(-normal_at_probability(p) / sqrt(2));
      assert_true(fabs(back - uniform) <= 4e-14 * uniform);
   }
   double lowest = rkb_random_normal_of(0), highest = rkb_random_normal_of(UINT64_MAX);
   assert_true(isfinite(lowest) && lowest == -highest);
   assert_true(fabs(lowest + 8.2095362) < 1e-6); /* the 2^-53 quantile */
}

static void normals_have_their_moments(void **state) {
   (void)state;
   rkb_random_t stream = rkb_random_stream(3, "normal", 0, 0);
   double sum = 0, squares = 0;
   enum { COUNT = 200000 };
   for (int i = 0; i < COUNT; i++) {
      double value = rkb_random_normal(&stream);
      sum += value;
      squares += value * value;
   }
   assert_true(fabs(sum / COUNT) < 0.01);
   assert_true(fabs(squares / COUNT - 1) < 0.015);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(philox_gives_the_published_answers),
                                      cmocka_unit_test(streams_depend_on_every_part_of_their_key),
                                      cmocka_unit_test(streams_stay_what_they_are),
                                      cmocka_unit_test(every_way_to_draw_agrees),
                                      cmocka_unit_test(below_is_in_range_and_even),
                                      cmocka_unit_test(reals_lie_in_the_unit_interval),
                                      cmocka_unit_test(normals_invert_the_distribution),
                                      cmocka_unit_test(normals_have_their_moments)};
   return RUN_TESTS(tests);
}
