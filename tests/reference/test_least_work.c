/* What must be computed of products behind triangles: by hand, on matrices small enough to count. */
#include <math.h>
#include "base/arena.h"
#include "check.h"
#include "rkb/ext/task.h"
#include "reference/least_work.h"
#include "reference/operations/elementwise.h"
#include "reference/operations/layout.h"
#include "reference/operations/product.h"
#include "reference/operations/reduce.h"

#define ROWS 5
#define DEPTH 3
#define COLUMNS 4
#define LOWER (1 + 2 + 3 + 4 + 4) /* elements of 5 x 4 with column <= row */

typedef struct built {
   rkb_arena_t *arena;
   rkb_program_t *program;
   uint32_t a, b;
} built_t;

static built_t begin(int64_t rows, int64_t depth, int64_t columns) {
   const rkb_shape_t left = {.rank = 2, .size = {rows, depth}}, right = {.rank = 2, .size = {depth, columns}};
   built_t built = {.arena = rkb_arena_new(1 << 20)};
   assert_non_null(built.arena);
   built.program = rkb_program_new(built.arena, 3);
   assert_non_null(built.program);
   built.a = rkb_program_input(built.program, "a", RKB_F32, &left, 0);
   built.b = rkb_program_input(built.program, "b", RKB_F32, &right, 1);
   return built;
}

static double least(built_t *built, uint32_t output) {
   double operations = -1;
   assert_false(built->program->failed);
   built->program->outputs[2] = output;
   rkb_program_prune(built->program);
   rkb_least_operations(built->program, &operations);
   rkb_arena_free(built->arena);
   return operations;
}

static void a_whole_product_counts_whole(void **state) {
   (void)state;
   built_t t = begin(ROWS, DEPTH, COLUMNS);
   assert_true(least(&t, rkb_make_matmul(t.program, t.a, false, t.b, false)) == 2 * ROWS * DEPTH * COLUMNS);
}

static void of_a_triangle_of_a_product_the_rest_is_left_out(void **state) {
   (void)state;
   for (int transposed = 0; transposed < 2; transposed++) {
      built_t t = begin(ROWS, DEPTH, COLUMNS);
      uint32_t product = rkb_make_matmul(t.program, t.a, false, t.b, false), out;
      if (transposed) {
         out = rkb_make_permute(t.program, product, (uint32_t[]){1, 0});
         out = rkb_make_triangle(t.program, out, 0, true, 0);
      } else {
         out = rkb_make_triangle(t.program, product, 0, false, 0);
      }
      assert_true(least(&t, out) == 2 * DEPTH * LOWER);
   }
}

static void products_with_known_zeros_are_left_out(void **state) {
   (void)state;
   built_t t = begin(ROWS, COLUMNS, DEPTH);
   uint32_t lower = rkb_make_triangle(t.program, t.a, 0, false, 0);
   assert_true(least(&t, rkb_make_matmul(t.program, lower, false, t.b, false)) == 2 * DEPTH * LOWER);
}

static void a_product_that_somebody_reads_whole_counts_whole(void **state) {
   (void)state;
   built_t t = begin(ROWS, DEPTH, COLUMNS);
   uint32_t product = rkb_make_matmul(t.program, t.a, false, t.b, false);
   uint32_t lower = rkb_make_triangle(t.program, product, 0, false, 0);
   uint32_t both = rkb_make_binary(t.program, "add", lower, product);
   assert_true(least(&t, both) == 2 * ROWS * DEPTH * COLUMNS + ROWS * COLUMNS);
}

/* softmax gives zeros where its operand is minus infinity, and only there. */
static void masked_scores_make_zero_shares(void **state) {
   (void)state;
   const double fills[] = {-INFINITY, 0};
   for (int n = 0; n < 2; n++) {
      built_t t = begin(ROWS, COLUMNS, DEPTH);
      uint32_t masked = rkb_make_triangle(t.program, t.a, 0, false, fills[n]);
      uint32_t share = rkb_make_softmax(t.program, "softmax", masked, 1);
      const double got = least(&t, rkb_make_matmul(t.program, share, false, t.b, false));
      const double elements = n == 0 ? LOWER : ROWS * COLUMNS;
      assert_true(got == 4 * elements + 2 * DEPTH * elements);
   }
}

static void one_more_is_no_longer_zero(void **state) {
   (void)state;
   built_t t = begin(ROWS, COLUMNS, DEPTH);
   uint32_t lower = rkb_make_triangle(t.program, t.a, 0, false, 0);
   uint32_t shifted = rkb_make_scalar(t.program, "add_scalar", lower, 1);
   assert_true(least(&t, rkb_make_matmul(t.program, shifted, false, t.b, false)) ==
               LOWER + 2 * ROWS * COLUMNS * DEPTH);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_whole_product_counts_whole),
      cmocka_unit_test(of_a_triangle_of_a_product_the_rest_is_left_out),
      cmocka_unit_test(products_with_known_zeros_are_left_out),
      cmocka_unit_test(a_product_that_somebody_reads_whole_counts_whole),
      cmocka_unit_test(masked_scores_make_zero_shares),
      cmocka_unit_test(one_more_is_no_longer_zero),
   };
   return RUN_TESTS(tests);
}
