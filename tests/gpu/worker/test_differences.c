/* Where two outputs differ most: for every element type, for every cut into pieces, and with NaN among the elements. */
#include "check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "peer/seed_peer.h"
#include "reference/dtype.h"

enum { COUNT = 20000 };
static const uint32_t types[] = {RKB_F16, RKB_BF16, RKB_F32, RKB_F64, RKB_I32, RKB_I64, RKB_U8, RKB_I8, RKB_E4M3, RKB_E5M2};

/* Compares two outputs of a type that differ in one element by so much.  Returns the place that is reported;
 * COUNT when none is. */
static uint64_t found_at(uint32_t type, uint64_t where, double value, double other, uint64_t piece) {
   const uint64_t width = rkb_dtype_bytes(type);
   double *one = calloc(COUNT, sizeof *one), *two = calloc(COUNT, sizeof *two);
   char *a = calloc(COUNT, width), *b = calloc(COUNT, width);
   differences_t found = {.count = {0}};
   difference_t sorted[DIFFERENCES_MOST];
   for (uint64_t i = 0; i < COUNT; i++)
      one[i] = two[i] = (double)(i % 7);
   one[where] = value;
   two[where] = other;
   rkb_dtype_store(type, one, COUNT, a);
   rkb_dtype_store(type, two, COUNT, b);
   for (uint64_t first = 0; first < COUNT; first += piece)
      differences_add(&found, type, first, COUNT - first < piece ? COUNT - first : piece, a + first * width, b + first * width);
   const uint32_t count = differences_sorted(&found, sorted);
   const uint64_t at = count == 1 ? sorted[0].element : COUNT;
   if (count == 1)
      assert_memory_equal(&sorted[0].bits, a + where * width, width);
   free(one);
   free(two);
   free(a);
   free(b);
   return at;
}

static void one_element_is_found_in_every_type(void **state) {
   (void)state;
   for (size_t n = 0; n < sizeof types / sizeof *types; n++) {
      assert_int_equal(found_at(types[n], 12345, 3, 4, COUNT), 12345);
      assert_int_equal(found_at(types[n], 19999, 3, 4, 8192), 19999);
      assert_int_equal(found_at(types[n], 777, 3, 3, COUNT), COUNT);
   }
}

static void what_is_no_number_differs_from_what_is_one(void **state) {
   (void)state;
   for (size_t n = 0; n < sizeof types / sizeof *types; n++) {
      if (!rkb_dtype_is_float(types[n]))
         continue;
      assert_int_equal(found_at(types[n], 5000, NAN, 1, COUNT), 5000);
      assert_int_equal(found_at(types[n], 5000, NAN, NAN, COUNT), COUNT);
   }
   assert_int_equal(found_at(RKB_BF16, 5000, INFINITY, 1, COUNT), 5000);
}

/* A small error among small numbers is beside the largest ones of large numbers. */
static void small_numbers_are_not_hidden_by_large_ones(void **state) {
   (void)state;
   float *one = calloc(COUNT, sizeof *one), *two = calloc(COUNT, sizeof *two);
   differences_t found = {.count = {0}};
   difference_t sorted[DIFFERENCES_MOST];
   bool there = false;
   for (uint32_t i = 0; i < COUNT; i++) {
      one[i] = i < 8192 ? 1e6f + (float)i : 1e-3f;
      two[i] = i < 8192 ? one[i] * (1 + 1e-6f) : one[i];
   }
   one[15000] *= 1.01f;
   differences_add(&found, RKB_F32, 0, COUNT, one, two);
   const uint32_t count = differences_sorted(&found, sorted);
   for (uint32_t n = 0; n < count; n++)
      there |= sorted[n].element == 15000;
   assert_true(there);
   assert_true(count > 1 && count <= DIFFERENCES_MOST);
   for (uint32_t n = 1; n < count; n++)
      assert_true(sorted[n].element > sorted[n - 1].element);
   free(one);
   free(two);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(one_element_is_found_in_every_type),
                                      cmocka_unit_test(what_is_no_number_differs_from_what_is_one),
                                      cmocka_unit_test(small_numbers_are_not_hidden_by_large_ones)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
