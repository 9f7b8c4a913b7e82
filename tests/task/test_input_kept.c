/* A tensor that is filled whole is kept for what reads it next (task/inputs.c): of every type and family, each element is what drawing it
 * alone gives, also where no float holds the numbers and nothing is kept. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "task/inputs.h"
#include "task_fixture.h"

#define ELEMENTS (37u * 211u)
#define TENSORS 5u

static const char task_text[] =
   "rkb-task: 1\nname: kept\nsummary: Inputs of several types.\nprecision: fp32\ndirections: [forward]\n"
   "dims:\n  N: {range: 1..1000}\n  D: {range: 1..10000}\n"
   "tensors:\n"
   "  a: {role: in, dtype: float32, shape: \"N, D\", init: {kind: normal}}\n"
   "  b: {role: in, dtype: bfloat16, shape: \"N, D\", init: {kind: normal}}\n"
   "  c: {role: in, dtype: float16, shape: \"N, D\", init: {kind: uniform, low: -1, high: 1}}\n"
   "  d: {role: in, dtype: int32, shape: \"N, D\", init: {kind: integers, low: 0, high: 1000}}\n"
   "  e: {role: in, dtype: int32, shape: \"N, D\", init: {kind: integers, low: 0, high: 2000000000}}\n"
   "  y: {role: out, dtype: float32, shape: \"N, D\"}\n"
   "cases:\n  check:\n    - {name: small, dims: {N: 37, D: 211}}\n";
static const char graph_text[] =
   "rkb-graph: 1\nnodes:\n"
   "  - {id: s, op: add, in: [a, b], out: [{name: t, dtype: float32, shape: \"N, D\"}]}\n"
   "  - {id: u, op: add, in: [t, c], out: [{name: v, dtype: float32, shape: \"N, D\"}]}\n"
   "  - {id: w, op: add, in: [v, d], out: [{name: x, dtype: float32, shape: \"N, D\"}]}\n"
   "  - {id: z, op: add, in: [x, e], out: [{name: y, dtype: float32, shape: \"N, D\"}]}\n";

static void read_all(const rkb_inputs_t *inputs, uint32_t tensor, double *out) {
   static int64_t index[ELEMENTS];
   for (uint32_t i = 0; i < ELEMENTS; i++)
      index[i] = (int64_t)i;
   assert_int_equal(rkb_inputs_source(inputs, tensor, ELEMENTS, index, out), RKB_OK);
}

static void hold_tensor(const rkb_inputs_t *filled, const rkb_inputs_t *other, uint32_t tensor) {
   static uint32_t first[ELEMENTS], again[ELEMENTS];
   static double kept[ELEMENTS], drawn[ELEMENTS];
   rkb_error_t err = {0};
   memset(first, 0, sizeof first);
   memset(again, 0, sizeof again);
   assert_int_equal(rkb_task_inputs_fill(filled, tensor, 0, ELEMENTS, first, &err), RKB_OK);
   assert_int_equal(rkb_task_inputs_fill(filled, tensor, 0, ELEMENTS, again, &err), RKB_OK);
   assert_memory_equal(first, again, sizeof first);
   assert_int_equal(rkb_task_inputs_fill(filled, tensor, 0, ELEMENTS - 1, again, &err), RKB_OK);
   assert_memory_equal(first, again, sizeof first);
   read_all(filled, tensor, kept);
   read_all(other, tensor, drawn); /* nothing of it was filled */
   assert_memory_equal(kept, drawn, sizeof kept);
}

static void test_kept_as_drawn(void **state) {
   (void)state;
   char *directory = fixture_write("kept", task_text, graph_text);
   rkb_task_t *task = fixture_load(directory, "forward");
   const rkb_case_t *c = rkb_task_case(task, RKB_CASE_CHECK, 0);
   const rkb_family_t *family;
   uint32_t families = 0;
   for (; (family = rkb_task_family(task, c, families)); families++) {
      rkb_inputs_t *filled = NULL, *other = NULL;
      rkb_error_t err = {0};
      assert_int_equal(rkb_task_inputs_open(task, c, family, 7, &filled, &err), RKB_OK);
      assert_int_equal(rkb_task_inputs_open(task, c, family, 7, &other, &err), RKB_OK);
      for (uint32_t tensor = 0; tensor < TENSORS; tensor++)
         hold_tensor(filled, other, tensor);
      for (uint32_t tensor = 0; families == 0 && tensor < TENSORS; tensor++) {
         const bool kept = atomic_load(&filled->kept[tensor]) != NULL;
         assert_int_equal(kept,
                          tensor < TENSORS - 1); /* of most numbers beyond 2^24 no float holds all digits */
      }
      rkb_task_inputs_free(filled);
      rkb_task_inputs_free(other);
   }
   assert_true(families > 5);
   rkb_task_free(task);
   free(directory);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept_as_drawn)};
   return RUN_TESTS(tests);
}
