/* Structured inputs: every family keeps them, whole and in ranges, in both directions; and mistakes in task.yaml. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "reference/dtype.h"
#include "task/inputs.h"
#include "task_fixture.h"

#define SIZE 7
#define BATCH 2

static const char task_text[] =
   "rkb-task: 1\nname: structured\nsummary: Four structures.\nprecision: fp32\ndirections: [forward, backward]\ndims:\n  N: {range: 1..64}\n"
   "tensors:\n"
   "  u: {role: in, dtype: float32, shape: \"2, N, N\", init: {kind: normal}, structure: upper}\n"
   "  l: {role: in, dtype: bfloat16, shape: \"2, N, N\", init: {kind: normal}, structure: lower}\n"
   "  d: {role: in, dtype: float32, shape: \"2, N, N\", init: {kind: normal}, structure: diagonal}\n"
   "  s: {role: in, dtype: float32, shape: \"2, N, N\", init: {kind: normal}, structure: symmetric}\n"
   "  y: {role: out, dtype: float32, shape: \"2, N, N\"}\n"
   "wants_grad: [u, s]\n"
   "cases:\n  check:\n    - {name: one, dims: {N: 7}}\n";
static const char graph_text[] =
   "rkb-graph: 1\nnodes:\n"
   "  - {id: wide, op: to, in: [l], attr: {dtype: float32}, out: [{name: wide, dtype: float32, shape: \"2, N, N\"}]}\n"
   "  - {id: left, op: matmul, in: [u, wide], out: [{name: left, dtype: float32, shape: \"2, N, N\"}]}\n"
   "  - {id: right, op: matmul, in: [d, s], out: [{name: right, dtype: float32, shape: \"2, N, N\"}]}\n"
   "  - {id: sum, op: add, in: [left, right], out: [{name: y, dtype: float32, shape: \"2, N, N\"}]}\n";

static void hold(const rkb_tensor_t *tensor, const char *data, uint32_t *kept) {
   for (uint64_t matrix = 0; matrix < BATCH; matrix++)
      for (uint64_t row = 0; row < SIZE; row++)
         for (uint64_t column = 0; column < SIZE; column++) {
            const uint64_t at = (matrix * SIZE + row) * SIZE + column, mirror = (matrix * SIZE + column) * SIZE + row;
            const double value = rkb_dtype_load(tensor->dtype, data, at);
            const bool zero = (tensor->name[0] == 'u' && column < row) || (tensor->name[0] == 'l' && column > row) ||
                              (tensor->name[0] == 'd' && column != row);
            if (zero)
               assert_true(value == 0);
            else if (tensor->name[0] == 's')
               assert_true(value == rkb_dtype_load(tensor->dtype, data, mirror));
            *kept += value != 0;
         }
}

/* Each element again, alone: inputs are functions of the element's number. */
static void hold_alone(const rkb_inputs_t *inputs, const rkb_tensor_t *tensor, uint32_t index, const char *data) {
   const uint32_t width = rkb_dtype_bytes(tensor->dtype);
   for (uint64_t i = 0; i < tensor->elements; i++) {
      char one[8];
      rkb_error_t err = {0};
      assert_int_equal(rkb_task_inputs_fill(inputs, index, i, 1, one, &err), RKB_OK);
      assert_memory_equal(one, data + i * width, width);
   }
}

static void hold_direction(const char *directory, const char *direction) {
   rkb_task_t *task = fixture_load(directory, direction);
   const rkb_case_t *c = rkb_task_case(task, RKB_CASE_CHECK, 0);
   uint32_t families = 0, kept = 0;
   const rkb_family_t *family;
   for (; (family = rkb_task_family(task, c, families)) != NULL; families++) {
      rkb_inputs_t *inputs = NULL;
      rkb_error_t err = {0};
      assert_int_equal(rkb_task_inputs_open(task, c, family, 11, &inputs, &err), RKB_OK);
      for (uint32_t i = 0; i < c->tensor_count; i++) {
         const rkb_tensor_t *tensor = &c->tensors[i];
         if (tensor->role == RKB_OUT || tensor->name[1])
            continue;
         char *data = malloc(tensor->bytes);
         assert_int_equal(rkb_task_inputs_fill(inputs, i, 0, tensor->elements, data, &err), RKB_OK);
         hold(tensor, data, &kept);
         hold_alone(inputs, tensor, i, data);
         free(data);
      }
      rkb_task_inputs_free(inputs);
   }
   assert_true(families > 8);
   assert_true(kept > 1000);
   rkb_task_free(task);
}

static void every_family_keeps_it(void **state) {
   (void)state;
   char *directory = fixture_write("structured", task_text, graph_text);
   hold_direction(directory, "forward");
   hold_direction(directory, "backward");
   free(directory);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(every_family_keeps_it)};
   return RUN_TESTS(tests);
}
