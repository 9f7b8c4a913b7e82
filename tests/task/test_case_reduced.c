/* Smaller shapes that resemble a listed one. */
#include <string.h>
#include "check.h"
#include "task_fixture.h"

#define WORK 1e7
#define NO_DIM UINT32_MAX

static const rkb_case_t *bench_named(rkb_task_t *task, const char *name) {
   const rkb_case_t *the_case;
   for (uint32_t n = 0; (the_case = rkb_task_case(task, RKB_CASE_BENCH, n)) != NULL; n++)
      if (strcmp(the_case->name, name) == 0)
         return the_case;
   fail_msg("no case %s", name);
   return NULL;
}

static rkb_case_t *reduce(rkb_task_t *task, const rkb_case_t *listed, double work, uint32_t longest) {
   rkb_random_t stream = {.key = {7}};
   rkb_case_t *shape = NULL;
   rkb_error_t err = {0};
   assert_int_equal(rkb_task_case_reduced(task, listed, &stream, work, longest, &shape, &err), RKB_OK);
   assert_true(shape->operations <= work);
   return shape;
}

static void choices_attributes_and_residues_stay(void **state) {
   (void)state;
   rkb_task_t *task = fixture_load(RKB_SOURCE_DIR "/tasks/attention", "backward");
   const rkb_case_t *listed = bench_named(task, "bench/head_128_causal"); /* B 4, H 16, T 2048, S 2048, D 128, causal 1 */
   rkb_case_t *shape = reduce(task, listed, 1e9, NO_DIM);
   assert_int_equal(shape->kind, RKB_CASE_DRAWN);
   assert_int_equal(shape->dims[4].value, 128);
   assert_int_equal(shape->dims[5].value, 1);
   assert_true(shape->attributes[0].value == listed->attributes[0].value);
   for (uint32_t d = 2; d < 4; d++) {
      assert_true(shape->dims[d].value < 2048);
      assert_int_equal(shape->dims[d].value % 16, 0);
   }
   rkb_task_case_free(shape);
   rkb_task_free(task);
}

/* The residue is not that of a power of two: 50,257 = 1 modulo 16 and 17 modulo 32. */
static void an_odd_dim_stays_odd(void **state) {
   (void)state;
   rkb_task_t *task = fixture_load(RKB_SOURCE_DIR "/tasks/bf16_embedding", "backward");
   rkb_case_t *shape = reduce(task, bench_named(task, "bench/gpt2_xl"), WORK, NO_DIM);
   assert_int_equal(shape->dims[1].value % 32, 50257 % 32);
   rkb_task_case_free(shape);
   rkb_task_free(task);
}

static void a_dim_stays_as_long_as_it_is(void **state) {
   (void)state;
   rkb_task_t *task = fixture_load(RKB_SOURCE_DIR "/tasks/attention", "backward");
   const rkb_case_t *listed = bench_named(task, "bench/head_64");
   for (uint32_t d = 2; d < 4; d++) {
      rkb_case_t *shape = reduce(task, listed, WORK, d);
      assert_int_equal(shape->dims[d].value, 2048);
      assert_true(shape->dims[5 - d].value < 2048);
      rkb_task_case_free(shape);
   }
   rkb_task_free(task);
}

static void a_domain_with_nothing_so_small_says_so(void **state) {
   (void)state;
   rkb_task_t *task = fixture_load(RKB_SOURCE_DIR "/tasks/attention", "backward");
   rkb_random_t stream = {.key = {7}};
   rkb_case_t *shape = NULL;
   rkb_error_t err = {0};
   assert_int_equal(rkb_task_case_reduced(task, bench_named(task, "bench/head_64"), &stream, 1, NO_DIM, &shape, &err), RKB_ERR_LIMIT);
   assert_null(shape);
   assert_non_null(strstr(err.message, "bench/head_64"));
   rkb_task_free(task);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(choices_attributes_and_residues_stay),
      cmocka_unit_test(an_odd_dim_stays_odd),
      cmocka_unit_test(a_dim_stays_as_long_as_it_is),
      cmocka_unit_test(a_domain_with_nothing_so_small_says_so),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
