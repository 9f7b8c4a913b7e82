/* Intermediates of a reference: their expected values are those of the graph, and values after given ones
 * follow from the given ones. */
#include <math.h>
#include <string.h>
#include "check.h"
#include "task/intermediates.h"
#include "task_fixture.h"

#define MOST 512u

/* Number of the intermediate of a name in the graph file. */
static uint32_t number_of(const rkb_case_t *the_case, const char *name, rkb_intermediate_t *intermediate) {
   for (uint32_t n = 0; rkb_task_intermediate(the_case, n, intermediate); n++)
      if (strcmp(intermediate->name, name) == 0)
         return n;
   fail_msg("case %s has no intermediate %s", the_case->name, name);
   return 0;
}

struct points {
   double value[MOST], hard[MOST], stat[MOST];
   uint8_t flags[MOST];
};

static const rkb_case_t *case_named(rkb_task_t *task, const char *name) {
   const rkb_case_t *the_case;
   for (uint32_t n = 0; (the_case = rkb_task_case(task, RKB_CASE_CHECK, n)) != NULL; n++)
      if (strstr(the_case->name, name))
         return the_case;
   fail_msg("no case %s", name);
   return NULL;
}

static rkb_inputs_t *open_inputs(rkb_task_t *task, const rkb_case_t *the_case) {
   rkb_inputs_t *inputs = NULL;
   rkb_error_t err = {0};
   assert_int_equal(rkb_task_inputs_open(task, the_case, rkb_task_family(task, the_case, 0), 7, &inputs, &err), RKB_OK);
   return inputs;
}

static void first_elements(uint64_t *elements, uint64_t count) {
   for (uint64_t n = 0; n < count; n++)
      elements[n] = n;
}

/* y[r, d] of the linear layer behind the given hidden layer, summed here. */
static void what_lies_behind_follows_from_what_was_given(void **state) {
   (void)state;
   rkb_task_t *task = fixture_load(RKB_SOURCE_DIR "/tasks/gelu_mlp", "forward");
   const rkb_case_t *the_case = case_named(task, "odd"); /* 9 rows, D 7, F 31 */
   rkb_inputs_t *inputs = open_inputs(task, the_case);
   rkb_intermediate_t active;
   const uint32_t number = number_of(the_case, "active", &active), dtype = RKB_F32;
   uint64_t elements[MOST], width = 0;
   float given[9 * 31], weight[7 * 31], bias[7];
   struct points points;
   rkb_error_t err = {0};
   assert_int_equal(active.elements, 9 * 31);
   assert_int_equal(rkb_task_give(inputs, &number, &dtype, 1, &err), RKB_OK);
   first_elements(elements, 9 * 31);
   assert_int_equal(rkb_task_given_fill(inputs, number, elements, 9 * 31, given, &width, &err), RKB_OK);
   assert_int_equal(width, 4);
   assert_int_equal(rkb_task_inputs_fill(inputs, 3, 0, 7 * 31, weight, &err), RKB_OK);
   assert_int_equal(rkb_task_inputs_fill(inputs, 4, 0, 7, bias, &err), RKB_OK);
   assert_int_equal(rkb_task_expect_points(inputs, 5, elements, 9 * 7, points.value, points.hard, points.stat, points.flags, &err),
                    RKB_OK);
   for (uint32_t n = 0; n < 9 * 7; n++) {
      double sum = bias[n % 7];
      for (uint32_t k = 0; k < 31; k++)
         sum += (double)given[n / 7 * 31 + k] * weight[n % 7 * 31 + k];
      assert_true(fabs(points.value[n] - sum) < 1e-12);
   }
   rkb_task_inputs_free(inputs);
   rkb_task_free(task);
}

/* Each made-up element is an element of the true intermediate; they are not all equal and not at their own places. */
static void made_up_elements_are_true_ones(void **state) {
   (void)state;
   rkb_task_t *task = fixture_load(RKB_SOURCE_DIR "/tasks/gelu_mlp", "backward");
   const rkb_case_t *the_case = case_named(task, "odd");
   rkb_inputs_t *truth = open_inputs(task, the_case), *inputs = open_inputs(task, the_case);
   rkb_intermediate_t hidden;
   uint32_t number = 0, dtype = RKB_F32, same = 0, in_place = 0;
   uint64_t elements[MOST], width;
   float given[MOST];
   struct points points;
   rkb_error_t err = {0};
   while (rkb_task_intermediate(the_case, number, &hidden) && hidden.elements != 9 * 31)
      number++;
   first_elements(elements, 9 * 31);
   assert_int_equal(rkb_task_expect_intermediate(truth, number, elements, 9 * 31, points.value, points.hard, points.stat,
                                                 points.flags, &err),
                    RKB_OK);
   assert_int_equal(rkb_task_give(inputs, &number, &dtype, 1, &err), RKB_OK);
   assert_int_equal(rkb_task_given_fill(inputs, number, elements, 9 * 31, given, &width, &err), RKB_OK);
   for (uint32_t n = 0; n < 9 * 31; n++) {
      bool found = false;
      for (uint32_t k = 0; k < 9 * 31; k++)
         found |= (float)points.value[k] == given[n];
      assert_true(found);
      same += given[n] == given[0];
      in_place += given[n] == (float)points.value[n];
   }
   assert_true(same < 9 * 31 / 4);
   assert_true(in_place < 9 * 31 / 4);
   rkb_task_inputs_free(inputs);
   rkb_task_inputs_free(truth);
   rkb_task_free(task);
}

/* What the last of some intermediates holds once they were given. */
static void fill_last(rkb_task_t *task, uint64_t seed, const uint32_t *numbers, uint32_t dtype,
                      uint32_t count, uint8_t out[4 * MOST]) {
   const rkb_case_t *the_case = case_named(task, "odd");
   const uint32_t dtypes[2] = {RKB_F32, RKB_F32}, last[1] = {dtype};
   rkb_inputs_t *inputs = NULL;
   uint64_t elements[MOST], width;
   rkb_error_t err = {0};
   first_elements(elements, 9 * 31);
   memset(out, 0, 4 * MOST);
   assert_int_equal(
      rkb_task_inputs_open(task, the_case, rkb_task_family(task, the_case, 0), seed, &inputs, &err), RKB_OK);
   assert_int_equal(rkb_task_give(inputs, numbers, count == 1 ? last : dtypes, count, &err), RKB_OK);
   assert_int_equal(rkb_task_given_fill(inputs, numbers[count - 1], elements, 9 * 31, out, &width, &err),
                    RKB_OK);
   rkb_task_inputs_free(inputs);
}

/* What was drawn for earlier inputs of a case serves later ones, and those alone whose elements are the same. */
static void elements_do_not_depend_on_what_was_drawn_before(void **state) {
   (void)state;
   rkb_task_t *task = fixture_load(RKB_SOURCE_DIR "/tasks/gelu_mlp", "backward");
   const rkb_case_t *the_case = case_named(task, "odd");
   const struct {
      uint64_t seed;
      uint32_t dtype, count;
   } draws[] = {{7, RKB_F32, 2}, {7, RKB_F32, 1}, {7, RKB_BF16, 1}, {8, RKB_F32, 1},
                {8, RKB_F32, 2}, {7, RKB_F32, 2}, {7, RKB_F32, 1}};
   rkb_intermediate_t info;
   uint32_t numbers[2], found = 0;
   uint8_t here[4 * MOST], fresh[4 * MOST], first[4 * MOST] = {0};
   for (uint32_t n = 0; found < 2 && rkb_task_intermediate(the_case, n, &info); n++)
      if (info.elements == 9 * 31)
         numbers[found++] = n;
   assert_int_equal(found, 2);
   for (uint32_t n = 0; n < sizeof draws / sizeof *draws; n++) {
      rkb_task_t *other = fixture_load(RKB_SOURCE_DIR "/tasks/gelu_mlp", "backward");
      const uint32_t *given = numbers + 2 - draws[n].count;
      fill_last(task, draws[n].seed, given, draws[n].dtype, draws[n].count, here);
      fill_last(other, draws[n].seed, given, draws[n].dtype, draws[n].count, fresh);
      assert_memory_equal(here, fresh, sizeof here);
      assert_true(n == 0 || n == 5 || memcmp(here, first, sizeof here) != 0);
      if (n == 0)
         memcpy(first, here, sizeof first);
      rkb_task_free(other);
   }
   rkb_task_free(task);
}

/* A kernel keeps each row's log of the sum of exps.  The reference gives that number, and a softmax whose
 * sums are given is exp(x - l). */
static void a_softmax_goes_by_the_sums_that_are_given(void **state) {
   (void)state;
   rkb_task_t *task = fixture_load(RKB_SOURCE_DIR "/tasks/attention", "forward");
   const rkb_case_t *the_case = case_named(task, "odd"); /* B 2, H 3, T 7, S 7, causal */
   rkb_inputs_t *truth = open_inputs(task, the_case), *inputs = open_inputs(task, the_case);
   rkb_intermediate_t masked, share, sums;
   const uint32_t dtype = RKB_F32, scores = number_of(the_case, "masked", &masked), softmax = number_of(the_case, "share", &share);
   uint32_t number = 0;
   uint64_t elements[MOST], width;
   float given[2 * 3 * 7];
   struct points x, points;
   rkb_error_t err = {0};
   while (rkb_task_intermediate(the_case, number, &sums) && strcmp(sums.operation, "log_sum_exp") != 0)
      number++;
   assert_int_equal(sums.elements, 2 * 3 * 7);
   first_elements(elements, MOST);
   assert_int_equal(rkb_task_expect_intermediate(truth, scores, elements, 2 * 3 * 7 * 7, x.value, x.hard, x.stat, x.flags, &err), RKB_OK);
   assert_int_equal(rkb_task_expect_intermediate(truth, number, elements, 2 * 3 * 7, points.value, points.hard, points.stat, points.flags, &err),
                    RKB_OK);
   for (uint32_t row = 0; row < 2 * 3 * 7; row++) {
      double sum = 0;
      for (uint32_t s = 0; s <= row % 7; s++)
         sum += exp(x.value[7 * row + s]);
      assert_true(fabs(points.value[row] - log(sum)) < 1e-12);
   }
   assert_int_equal(rkb_task_give(inputs, &number, &dtype, 1, &err), RKB_OK);
   assert_int_equal(rkb_task_given_fill(inputs, number, elements, 2 * 3 * 7, given, &width, &err), RKB_OK);
   assert_int_equal(rkb_task_expect_intermediate(inputs, softmax, elements, 2 * 3 * 7 * 7, points.value, points.hard, points.stat, points.flags,
                                                 &err),
                    RKB_OK);
   for (uint32_t n = 0; n < 2 * 3 * 7 * 7; n++) {
      const double right = exp(x.value[n] - (double)given[n / 7]);
      assert_true(fabs(points.value[n] - right) <= 1e-12 * right);
      /* What a kernel in single precision makes of it lies within the bound. */
      assert_true(isinf(x.value[n]) || fabs((double)expf((float)x.value[n] - given[n / 7]) - right) <= points.hard[n]);
   }
   rkb_task_inputs_free(inputs);
   rkb_task_inputs_free(truth);
   rkb_task_free(task);
}

static void a_wrong_use_is_refused(void **state) {
   (void)state;
   rkb_task_t *task = fixture_load(RKB_SOURCE_DIR "/tasks/gelu_mlp", "forward");
   const rkb_case_t *the_case = case_named(task, "odd");
   rkb_inputs_t *inputs = open_inputs(task, the_case);
   rkb_intermediate_t active;
   const uint32_t number = number_of(the_case, "active", &active), dtype = RKB_F32;
   uint64_t element = 0, width;
   float given;
   struct points points;
   rkb_error_t err = {0};
   assert_int_equal(rkb_task_given_fill(inputs, number, &element, 1, &given, &width, &err), RKB_ERR_INVALID); /* not given */
   assert_int_equal(rkb_task_give(inputs, &number, &dtype, 1, &err), RKB_OK);
   assert_int_equal(rkb_task_give(inputs, &number, &dtype, 1, &err), RKB_ERR_INVALID); /* twice */
   element = active.elements;
   assert_int_equal(rkb_task_expect_intermediate(inputs, number, &element, 1, points.value, points.hard, points.stat, points.flags,
                                                 &err),
                    RKB_ERR_INVALID);
   element = 0;
   assert_int_equal(rkb_task_expect_intermediate(inputs, 1000, &element, 1, points.value, points.hard, points.stat, points.flags,
                                                 &err),
                    RKB_ERR_INVALID);
   assert_false(rkb_task_intermediate(the_case, 1000, &active));
   rkb_task_inputs_free(inputs);
   rkb_task_free(task);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_lies_behind_follows_from_what_was_given),
      cmocka_unit_test(made_up_elements_are_true_ones),
      cmocka_unit_test(elements_do_not_depend_on_what_was_drawn_before),
      cmocka_unit_test(a_softmax_goes_by_the_sums_that_are_given),
      cmocka_unit_test(a_wrong_use_is_refused),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
