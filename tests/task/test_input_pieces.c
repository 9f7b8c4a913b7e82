/* Inputs that are read in parts, repeatedly and in any order: the kept pieces of a large tensor
 * (task/drawn_pieces.h) are what drawing the whole tensor gives. */
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "task/drawn_pieces.h"
#include "task/inputs.h"
#include "task_fixture.h"

#define COLUMNS 5003u
#define ROWS 401u /* more than two million elements: pieces of one row take the slots of others */
#define READS 3000u

static const char task_text[] =
   "rkb-task: 1\nname: pieces\nsummary: Two large inputs.\nprecision: fp32\ndirections: [forward]\n"
   "dims:\n  N: {range: 1..1000}\n  D: {range: 1..10000}\n"
   "tensors:\n"
   "  a: {role: in, dtype: float32, shape: \"N, D\", init: {kind: normal}}\n"
   "  b: {role: in, dtype: float32, shape: \"N, D\", init: {kind: uniform, low: -1, high: 1}}\n"
   "  y: {role: out, dtype: float32, shape: \"N, D\"}\n"
   "cases:\n  check:\n    - {name: large, dims: {N: 401, D: 5003}}\n";
static const char graph_text[] =
   "rkb-graph: 1\nnodes:\n"
   "  - {id: sum, op: add, in: [a, b], out: [{name: y, dtype: float32, shape: \"N, D\"}]}\n";

static float *whole(const rkb_inputs_t *inputs, uint32_t tensor) {
   rkb_error_t err = {0};
   float *data = malloc(ROWS * COLUMNS * sizeof *data);
   assert_non_null(data);
   assert_int_equal(rkb_task_inputs_fill(inputs, tensor, 0, ROWS * COLUMNS, data, &err), RKB_OK);
   return data;
}

static void hold_part(const rkb_inputs_t *inputs, uint32_t tensor, uint64_t first, uint64_t count, const float *want) {
   static float got[COLUMNS];
   static double read[COLUMNS];
   static int64_t index[COLUMNS];
   rkb_error_t err = {0};
   assert_int_equal(rkb_task_inputs_fill(inputs, tensor, first, count, got, &err), RKB_OK);
   assert_memory_equal(got, want + first, count * sizeof *got);
   for (uint64_t i = 0; i < count; i++)
      index[i] = (int64_t)(first + i);
   assert_int_equal(rkb_inputs_source(inputs, tensor, count, index, read), RKB_OK);
   for (uint64_t i = 0; i < count; i++)
      assert_true(read[i] == (double)want[first + i]);
}

static void test_parts_are_of_the_whole(void **state) {
   (void)state;
   char *directory = fixture_write("pieces", task_text, graph_text);
   rkb_task_t *task = fixture_load(directory, "forward");
   const rkb_case_t *c = rkb_task_case(task, RKB_CASE_CHECK, 0);
   rkb_inputs_t *inputs = NULL, *undivided = NULL;
   rkb_error_t err = {0};
   assert_int_equal(rkb_task_inputs_open(task, c, rkb_task_family(task, c, 0), 7, &inputs, &err), RKB_OK);
   assert_int_equal(rkb_task_inputs_open(task, c, rkb_task_family(task, c, 0), 7, &undivided, &err), RKB_OK);
   float *want[2] = {whole(undivided, 0), whole(undivided, 1)};
   uint64_t state_of_places = 1;
   for (uint32_t n = 0; n < READS; n++) {
      state_of_places = state_of_places * UINT64_C(6364136223846793005) + 1442695040888963407u;
      const uint64_t place = state_of_places >> 33, row = place % 40 * (place % 3 ? 1 : 10), count = 1 + place / 64 % COLUMNS;
      hold_part(inputs, n % 2, row * COLUMNS + (COLUMNS - count) / 2, count, want[n % 2]);
   }
   free(want[0]);
   free(want[1]);
   rkb_task_inputs_free(inputs);
   rkb_task_inputs_free(undivided);
   rkb_task_free(task);
   free(directory);
}

#define SIDE 128u /* rows, and columns: of two pieces each */

/* Counts what it draws. */
static void count_drawn(const void *argument, uint32_t tensor, uint64_t first, uint64_t count, double *out) {
   *(uint64_t *)(uintptr_t)argument += count;
   for (uint64_t i = 0; i < count; i++)
      out[i] = (double)(first + i) + (tensor ? 0x1p-40 : 0); /* no float holds those of the second tensor */
}

/* Reads a matrix column by column; returns how many elements were drawn for it. */
static uint64_t drawn_by_columns(uint32_t tensor, uint64_t elements) {
   rkb_drawn_pieces_t *pieces = rkb_drawn_pieces_new((uint64_t)SIDE * SIDE);
   static int64_t index[SIDE];
   static double read[SIDE];
   uint64_t drawn = 0, rows = elements / SIDE;
   for (uint32_t column = 0; column < SIDE && column + (rows - 1) * SIDE < elements; column++) {
      for (uint64_t row = 0; row < rows; row++)
         index[row] = (int64_t)(row * SIDE + column);
      rkb_drawn_pieces_list(pieces, count_drawn, &drawn, tensor, elements, 4096, rows, index, read);
      for (uint64_t row = 0; row < rows; row++)
         assert_true(read[row] == (double)index[row] + (tensor ? 0x1p-40 : 0));
   }
   rkb_drawn_pieces_free(pieces);
   return drawn;
}

/* The first column asks for single elements, the second has their pieces drawn, and the others find them there. */
static void test_columns_share_pieces(void **state) {
   (void)state;
   assert_true(drawn_by_columns(0, SIDE * SIDE) == 2 * SIDE + SIDE * SIDE);
   assert_true(drawn_by_columns(0, SIDE * SIDE - 70) <
               SIDE * SIDE + 3 * SIDE); /* nothing is drawn past the end */
   assert_true(drawn_by_columns(1, SIDE * SIDE) <
               3 * SIDE * SIDE); /* what the table cannot keep is not drawn whole again */
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts_are_of_the_whole),
                                      cmocka_unit_test(test_columns_share_pieces)};
   return RUN_TESTS(tests);
}
