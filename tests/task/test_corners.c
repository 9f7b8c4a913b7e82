/* The corners of a domain: up to three dims at their most, the others at their least. */
#include <stdlib.h>
#include "check.h"
#include "task_fixture.h"

#define MOST 16

static int64_t dim(const rkb_case_t *c, uint32_t index) {
   return c->dims[index].value;
}

/* Number of corners, or fails; those that fit together go to found. */
static uint32_t corners_of(rkb_task_t *task, rkb_case_t *found[MOST], uint32_t *fitting) {
   uint32_t count = 0;
   *fitting = 0;
   for (;; count++) {
      rkb_case_t *corner = NULL;
      rkb_error_t err = {0};
      int status = rkb_task_case_corner(task, count, &corner, &err);
      if (status != RKB_OK) {
         assert_int_equal(status, RKB_ERR_LIMIT);
         return count;
      }
      assert_true(*fitting < MOST);
      if (corner)
         found[(*fitting)++] = corner;
   }
}

static void every_one_is_at_the_ends_of_the_domain(void **state) {
   (void)state;
   rkb_task_t *task = fixture_load(RKB_SOURCE_DIR "/tasks/llama_rmsnorm", "forward"); /* B 1..64, T 1..4096, D 1..16384 */
   rkb_case_t *found[MOST];
   uint32_t fitting, both = 0, all = 0;
   assert_int_equal(corners_of(task, found, &fitting), 7);
   assert_int_equal(fitting, 7);
   for (uint32_t i = 0; i < fitting; i++) {
      const rkb_case_t *c = found[i];
      assert_true(dim(c, 0) == 1 || dim(c, 0) == 64);
      assert_true(dim(c, 1) == 1 || dim(c, 1) == 4096);
      assert_true(dim(c, 2) == 1 || dim(c, 2) == 16384);
      both += dim(c, 0) == 64 && dim(c, 1) == 4096 && dim(c, 2) == 1;
      all += dim(c, 0) == 64 && dim(c, 1) == 4096 && dim(c, 2) == 16384;
      rkb_task_case_free(found[i]);
   }
   assert_int_equal(both, 1);
   assert_int_equal(all, 1);
   rkb_task_free(task);
}

static void what_the_task_does_not_allow_is_none(void **state) {
   (void)state;
   char *directory = fixture_write("corners",
                                   "rkb-task: 1\nname: corners\nsummary: A copy.\nprecision: fp32\ndirections: [forward]\n"
                                   "dims:\n  A: {range: 2..8, multiple_of: 4}\n  B: {choices: [3, 9, 5]}\n"
                                   "require: [\"A + B < 17\"]\n"
                                   "tensors:\n  x: {role: in, dtype: float32, shape: \"A, B\", init: {kind: normal}}\n"
                                   "  y: {role: out, dtype: float32, shape: \"A, B\"}\n"
                                   "cases:\n  check:\n    - {name: one, dims: {A: 4, B: 3}}\n",
                                   "rkb-graph: 1\nnodes:\n"
                                   "  - {id: y, op: neg, in: [x], out: [{name: y, dtype: float32, shape: \"A, B\"}]}\n");
   rkb_task_t *task = fixture_load(directory, "forward");
   rkb_case_t *found[MOST];
   uint32_t fitting;
   assert_int_equal(corners_of(task, found, &fitting), 3);
   assert_int_equal(fitting, 2); /* (8, 9) is too much */
   assert_true(dim(found[0], 0) == 8 && dim(found[0], 1) == 3);
   assert_true(dim(found[1], 0) == 4 && dim(found[1], 1) == 9);
   while (fitting > 0)
      rkb_task_case_free(found[--fitting]);
   rkb_task_free(task);
   free(directory);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(every_one_is_at_the_ends_of_the_domain),
                                      cmocka_unit_test(what_the_task_does_not_allow_is_none)};
   return RUN_TESTS(tests);
}
