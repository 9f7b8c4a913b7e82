/* Sums of products as tensor cores form them (core/machine/lanes/tensor_arithmetic.h): against exact fractions, by the digests of
 * tensor_sums.txt (tensor_sums.py makes them), with the code of both instruction sets; and the way that takes eight sums at a time
 * against the one that takes a sum after the other, on two million sums of every kind, NaN and infinities among them. */
#include "check.h"
#include "machine/lanes/tensor_arithmetic.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TILE (TENSOR_ROWS * TENSOR_COLUMNS)

static uint64_t draw_random(uint64_t seed, uint64_t n) {
   uint64_t z = seed * 0x9e3779b97f4a7c15 + n * 0xd1b54a32d192ed03 + 0x9e3779b97f4a7c15;
   z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
   z = (z ^ z >> 27) * 0x94d049bb133111eb;
   return z ^ z >> 31;
}

typedef struct form {
   const char *name;
   enum machine_tensor_type type;
   int exponent_bits, fraction_bits, dropped, terms;
} form_t;

static const form_t forms[] = {{"f16", TENSOR_F16, 5, 10, 0, 16},
                               {"bf16", TENSOR_BF16, 8, 7, 0, 16},
                               {"tf32", TENSOR_TF32, 8, 10, 13, 8}};
static const char *const kinds[] = {"any", "near", "wide", "tiny", "cancelling", "border"};
static const machine_tensor_rule_t rules[] = {{25, -133}, {24, -133}, {13, -133}};

static uint32_t draw(int kind, int exponent_bits, int fraction_bits, uint64_t r) {
   const int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 2,
             choice = (int)(r >> 32 & 0xffff);
   uint32_t fraction = (uint32_t)r & ((1u << fraction_bits) - 1);
   int exponent = kind == 0   ? choice % (top + 1)
                  : kind == 1 ? bias - 3 + choice % 7
                  : kind == 2 ? bias - 14 + choice % 29
                  : kind == 3 ? choice % 3
                  : kind == 4 ? bias + (choice % 2   ? 12
                                        : choice % 3 ? 0
                                                     : -12)
                              : bias / 2 - 10 + choice % 20;
   if (kind == 4 && choice % 7)
      fraction = 0;
   exponent = exponent < 0 ? 0 : exponent > top ? top : exponent;
   return (uint32_t)(r >> 63) << (exponent_bits + fraction_bits) | (uint32_t)exponent << fraction_bits |
          fraction;
}

/* Result n lies in row n / 8 and column n % 8 of a tile that has its own row and column; the other elements
 * are not checked. */
static uint32_t sum_alone(const form_t *form, int kind, const machine_tensor_rule_t *rule, bool halves,
                          uint64_t seed, uint32_t n, machine_tensor_take_t *take, machine_tensor_sum_t *sum) {
   uint32_t a[TENSOR_ROWS * TENSOR_TERMS] = {0}, b[TENSOR_COLUMNS * TENSOR_TERMS] = {0}, c[TILE] = {0};
   machine_tensor_factors_t fa, fb;
   const uint32_t row = n / 8 % TENSOR_ROWS, column = n % 8, terms = (uint32_t)form->terms;
   for (uint32_t k = 0; k < terms; k++) {
      a[row * terms + k] =
         draw(kind, form->exponent_bits, form->fraction_bits, draw_random(seed, n * 64 + 2 * k))
         << form->dropped;
      b[8 * k + column] =
         draw(kind, form->exponent_bits, form->fraction_bits, draw_random(seed, n * 64 + 2 * k + 1))
         << form->dropped;
      if (form->dropped) { /* what is dropped changes nothing */
         a[row * terms + k] |= 0x1234;
         b[8 * k + column] |= 0x1fff;
      }
   }
   uint32_t *at = &c[row * 8 + column];
   *at = draw(n % 2 ? kind : 1, halves ? 5 : 8, halves ? 10 : 23, draw_random(seed, n * 64 + 2 * terms));
   take(form->type, a, TENSOR_ROWS * terms, &fa);
   take(form->type, b, TENSOR_COLUMNS * terms, &fb);
   sum(rule, TENSOR_ROWS, terms, &fa, &fb, halves, c);
   return *at;
}

static void against_fractions(machine_tensor_take_t *take, machine_tensor_sum_t *sum) {
   FILE *file = fopen(RKB_SOURCE_DIR "/tests/machine/tensor_sums.txt", "r");
   uint64_t seed = 0;
   assert_non_null(file);
   for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
      for (int kind = 0; kind < 6; kind++)
         for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
            for (int halves = 0; halves <= (forms[f].type == TENSOR_F16); halves++) {
               char line[128], want[128];
               uint64_t digest = 0xcbf29ce484222325;
               seed++;
               for (uint32_t n = 0; n < 64; n++)
                  digest = (digest ^ sum_alone(&forms[f], kind, &rules[r], halves, seed, n, take, sum)) *
                           0x100000001b3;
               assert_non_null(fgets(line, sizeof line, file));
               snprintf(want, sizeof want, "%s %s %d %s %016lx\n", forms[f].name, kinds[kind],
                        rules[r].fraction, halves ? "f16" : "f32", (unsigned long)digest);
               assert_string_equal(want, line);
            }
   fclose(file);
}

static void portable_sums_are_exact(void **state) {
   (void)state;
   against_fractions(machine_tensor_take_portable, machine_tensor_sum_portable);
   against_fractions(machine_tensor_take_portable, machine_tensor_sum_slowly_portable);
}

static void vector_sums_are_exact(void **state) {
   (void)state;
   if (!__builtin_cpu_supports("avx2"))
      skip();
   against_fractions(machine_tensor_take_v3, machine_tensor_sum_v3);
   against_fractions(machine_tensor_take_v3, machine_tensor_sum_slowly_v3);
}

/* Tiles of one kind, with NaN and infinities in some. */
static void fill(const form_t *form, int kind, bool special, uint64_t seed, uint32_t count, uint32_t *out) {
   for (uint32_t n = 0; n < count; n++) {
      const uint64_t r = draw_random(seed, n);
      out[n] = draw(kind, form->exponent_bits, form->fraction_bits, r) << form->dropped;
      if (special && (r >> 20) % 61 == 0)
         out[n] |= ((1u << form->exponent_bits) - 1) << (form->fraction_bits + form->dropped);
   }
}

static void both_ways_agree(void **state) {
   (void)state;
   static uint32_t a[TENSOR_ROWS * TENSOR_TERMS], b[TENSOR_COLUMNS * TENSOR_TERMS], c[TILE], fast[TILE],
      slow[TILE];
   machine_tensor_factors_t fa, fb;
   const bool vectors = __builtin_cpu_supports("avx2");
   for (uint64_t turn = 0; turn < 16384; turn++) {
      const form_t *form = &forms[turn % 3], single = {"f32", TENSOR_F32, 8, 23, 0, 0},
                   half = {"f16", TENSOR_F16, 5, 10, 0, 0};
      const int kind = (int)(turn / 3 % 6);
      const bool halves = form->type == TENSOR_F16 && turn % 2, special = turn % 7 == 0;
      const uint32_t terms = (uint32_t)form->terms;
      fill(form, kind, special, 3 * turn, TENSOR_ROWS * terms, a);
      fill(form, kind, special, 3 * turn + 1, TENSOR_COLUMNS * terms, b);
      fill(halves ? &half : &single, turn % 4 ? kind : 1, special, 3 * turn + 2, TILE, c);
      memcpy(fast, c, sizeof c);
      memcpy(slow, c, sizeof c);
      (vectors ? machine_tensor_take_v3 : machine_tensor_take_portable)(form->type, a, TENSOR_ROWS * terms,
                                                                        &fa);
      (vectors ? machine_tensor_take_v3 : machine_tensor_take_portable)(form->type, b, TENSOR_COLUMNS * terms,
                                                                        &fb);
      (vectors ? machine_tensor_sum_v3 : machine_tensor_sum_portable)(
         &rules[turn % 3 == 0 ? 0 : turn % 2], TENSOR_ROWS, terms, &fa, &fb, halves, fast);
      machine_tensor_sum_slowly_portable(&rules[turn % 3 == 0 ? 0 : turn % 2], TENSOR_ROWS, terms, &fa, &fb,
                                         halves, slow);
      assert_memory_equal(fast, slow, sizeof fast);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(portable_sums_are_exact),
                                      cmocka_unit_test(vector_sums_are_exact),
                                      cmocka_unit_test(both_ways_agree)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
