/* Sums of a warp's share of wgmma.mma_async are the same, bit for bit, by each instruction set that this processor has, as one by one: of ordinary factors, of
 * rows and columns that are zeros, of factors far apart, and of infinities and NaN.  Rows that are left out stay as they were. */
#include "check.h"
#include "machine/lanes/warpgroup_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 400u
#define LANES 32u

static uint64_t seed = 88172645463325252u;

static uint32_t draw(uint32_t below) {
   seed ^= seed << 13;
   seed ^= seed >> 7;
   seed ^= seed << 17;
   return (uint32_t)(seed >> 32) % below;
}

/* A bfloat16: mostly near 1, sometimes far from it or nothing. */
static uint16_t draw_factor(uint32_t kind) {
   const uint32_t sign = draw(2) << 15, fraction = draw(128);
   const uint32_t power = kind == 0   ? 120 + draw(14)
                          : kind == 1 ? 60 + draw(130)
                          : kind == 2 ? draw(256)
                                      : 127;
   return draw(8) == 0 ? (uint16_t)sign : (uint16_t)(sign | power << 7 | fraction);
}

static void take(uint16_t bits, float *value, int16_t *exponent, bool *far) {
   const uint32_t element = bits;
   machine_group_take_portable(TENSOR_BF16, false, &element, 1, value, exponent, far);
}

static void draw_factors(const machine_group_rule_t *rule, uint32_t kind, machine_row_factors_t *a,
                         machine_column_factors_t *b) {
   memset(a, 0, sizeof *a);
   memset(b, 0, sizeof *b);
   for (uint32_t row = 0; row < WARP_ROWS; row++) {
      const bool none = draw(6) == 0;
      for (uint32_t k = 0; k < rule->terms; k++)
         take(none ? 0 : draw_factor(kind), &a->value[row][k], &a->exponent[row][k], &a->far[row]);
   }
   const bool none = draw(12) == 0;
   for (uint32_t k = 0; k < rule->terms; k++)
      for (uint32_t c = 0; c < GROUP_COLUMNS; c++)
         take(none ? 0 : draw_factor(kind), &b->value[k][c], &b->exponent[k][c], &b->far);
}

static float draw_addend(uint32_t kind) {
   uint32_t bits = draw(2) << 31 | (kind == 2 ? draw(256) : 110 + draw(40)) << 23 | draw(1u << 23);
   float value;
   bits = draw(9) == 0 ? bits & 0x80000000u : bits;
   memcpy(&value, &bits, sizeof value);
   return value;
}

/* As in tiles to which nothing was added so far; a few of them are -0, to which zeros add to 0. */
static float draw_zero(void) {
   return draw(64) == 0 ? -0.0f : 0.0f;
}

static void compare(const machine_group_rule_t *rule, uint32_t kind) {
   static machine_row_factors_t a;
   static machine_column_factors_t b;
   machine_group_sum_t *const ways[] = {machine_group_sum_portable, machine_group_sum_v3,
                                        machine_group_sum_chosen_portable(), machine_group_sum_chosen_v3()};
   float before[GROUP_REGISTERS][LANES], after[GROUP_REGISTERS][LANES], first[GROUP_REGISTERS][LANES];
   float *results[GROUP_REGISTERS];
   draw_factors(rule, kind, &a, &b);
   const bool zeros = draw(4) == 0;
   for (uint32_t n = 0; n < GROUP_REGISTERS; n++) {
      results[n] = after[n];
      for (uint32_t l = 0; l < LANES; l++)
         before[n][l] = zeros ? draw_zero() : draw_addend(kind);
   }
   for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
      memcpy(after, before, sizeof after);
      ways[way](rule, &a, &b, results, NULL);
      if (way == 0)
         memcpy(first, after, sizeof first);
      assert_memory_equal(first, after, sizeof first);
   }
   for (uint32_t row = 0; row < WARP_ROWS; row++)
      for (uint32_t place = 0; place < GROUP_COLUMNS; place++) {
         const uint32_t column = group_column(place), tile = column / 8,
                        number = 4 * tile + 2 * (row / 8) + column % 2, lane = 4 * (row % 8) + column % 8 / 2;
         uint32_t bits, sum;
         memcpy(&bits, &before[number][lane], sizeof bits);
         memcpy(&sum, &first[number][lane], sizeof sum);
         if (!(rule->left_out >> row & 1))
            bits = machine_group_sum_one_portable(rule, &a, row, &b, place, false, rule->adds ? bits : 0);
         assert_int_equal(bits, sum);
      }
}

static void sums_are_the_same(void **state) {
   (void)state;
   for (uint32_t n = 0; n < ROUNDS; n++) {
      const machine_group_rule_t rule = {.terms = 8u << draw(3),
                                         .fraction = draw(2) ? 25 : 13,
                                         .kept_fraction = draw(2) ? 23 : 13,
                                         .adds = draw(4) != 0,
                                         .left_out = (uint16_t)(n % 3 == 0 ? draw(65536) : 0),
                                         .exact_factors = true};
      compare(&rule, n % 4);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_the_same)};
   return RUN_TESTS(tests);
}
