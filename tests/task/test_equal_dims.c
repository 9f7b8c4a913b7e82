/* Shapes that are drawn with equal dims. */
#include <stdlib.h>
#include "check.h"
#include "task_fixture.h"

#define DRAWS 40
#define WORK 1e6

/* How many dims of the case have the value of dim `which`. */
static uint32_t alike(const rkb_case_t *c, uint32_t which) {
   uint32_t count = 0;
   for (uint32_t d = 0; d < c->dim_count; d++)
      count += c->dims[d].value == c->dims[which].value;
   return count;
}

static void all_dims_that_can_be_are_equal(void **state) {
   (void)state;
   rkb_task_t *task = fixture_load(RKB_SOURCE_DIR "/tasks/llama_rmsnorm", "forward"); /* B 1..64, T 1..4096, D 1..16384 */
   rkb_random_t stream = {.key = {7}};
   for (uint32_t i = 0; i < DRAWS; i++) {
      rkb_case_t *c = NULL;
      rkb_error_t err = {0};
      assert_int_equal(rkb_task_case_draw_equal(task, &stream, WORK, true, &c, &err), RKB_OK);
      assert_int_equal(c->dims[1].value, c->dims[2].value);
      assert_true(c->dims[0].value == c->dims[1].value || c->dims[1].value > 64);
      assert_true(c->operations <= WORK);
      rkb_task_case_free(c);
   }
   rkb_task_free(task);
}

static void every_two_dims_are_equal_in_some_draw(void **state) {
   (void)state;
   rkb_task_t *task = fixture_load(RKB_SOURCE_DIR "/tasks/llama_rmsnorm", "forward");
   rkb_random_t stream = {.key = {7}};
   uint32_t pairs[3] = {0}, alone = 0;
   for (uint32_t i = 0; i < DRAWS; i++) {
      rkb_case_t *c = NULL;
      rkb_error_t err = {0};
      assert_int_equal(rkb_task_case_draw_equal(task, &stream, WORK, false, &c, &err), RKB_OK);
      for (uint32_t d = 0; d < 3; d++)
         pairs[d] += c->dims[d].value == c->dims[(d + 1) % 3].value;
      assert_true(alike(c, 0) > 1 || alike(c, 1) > 1);
      alone += alike(c, 0) < 3 && alike(c, 1) < 3;
      rkb_task_case_free(c);
   }
   assert_true(pairs[0] && pairs[1] && pairs[2]);
   assert_true(alone > DRAWS / 2);
   rkb_task_free(task);
}

static rkb_task_t *load_copy(const char *dims, char **directory) {
   char text[1024];
   snprintf(text, sizeof text,
            "rkb-task: 1\nname: equal\nsummary: A copy.\nprecision: fp32\ndirections: [forward]\n"
            "dims:\n%s"
            "tensors:\n  x: {role: in, dtype: float32, shape: \"A, B\", init: {kind: normal}}\n"
            "  y: {role: out, dtype: float32, shape: \"A, B\"}\n"
            "cases:\n  check:\n    - {name: one, dims: {A: 4, B: 9}}\n",
            dims);
   *directory = fixture_write("equal", text,
                              "rkb-graph: 1\nnodes:\n"
                              "  - {id: y, op: neg, in: [x], out: [{name: y, dtype: float32, shape: \"A, B\"}]}\n");
   return fixture_load(*directory, "forward");
}

static void only_values_of_both_domains_are_taken(void **state) {
   (void)state;
   char *directory;
   rkb_task_t *task = load_copy("  A: {range: 4..64, multiple_of: 4}\n  B: {choices: [9, 12, 32, 200]}\n", &directory);
   rkb_random_t stream = {.key = {7}};
   for (uint32_t i = 0; i < DRAWS; i++) {
      rkb_case_t *c = NULL;
      rkb_error_t err = {0};
      assert_int_equal(rkb_task_case_draw_equal(task, &stream, WORK, i % 2, &c, &err), RKB_OK);
      assert_int_equal(c->dims[0].value, c->dims[1].value);
      assert_true(c->dims[0].value == 12 || c->dims[0].value == 32);
      rkb_task_case_free(c);
   }
   rkb_task_free(task);
   free(directory);
}

static void domains_apart_have_no_such_shape(void **state) {
   (void)state;
   char *directory;
   rkb_task_t *task = load_copy("  A: {range: 1..8}\n  B: {range: 9..64}\n", &directory);
   rkb_random_t stream = {.key = {7}};
   rkb_case_t *c = NULL;
   rkb_error_t err = {0};
   assert_int_equal(rkb_task_case_draw_equal(task, &stream, WORK, true, &c, &err), RKB_ERR_LIMIT);
   assert_null(c);
   rkb_task_free(task);
   free(directory);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_dims_that_can_be_are_equal), cmocka_unit_test(every_two_dims_are_equal_in_some_draw),
      cmocka_unit_test(only_values_of_both_domains_are_taken), cmocka_unit_test(domains_apart_have_no_such_shape)};
   return RUN_TESTS(tests);
}
