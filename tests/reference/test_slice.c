/* One task from its files to a judgement: the rms norm of data/rms_norm, against loops written out here. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "task/task.h"

static rkb_task_t *load(const char *name, const char *direction) {
   char path[512];
   rkb_problems_t problems;
   rkb_text_t text;
   snprintf(path, sizeof path, "%s/tests/task/data/%s", RKB_SOURCE_DIR, name);
   rkb_problems_init(&problems);
   rkb_task_t *task = rkb_task_load(path, direction, 0, &problems);
   rkb_text_init(&text, 1 << 16);
   rkb_problems_write(&problems, &text);
   if (!task)
      fail_msg("%s", rkb_text_get(&text));
   rkb_text_free(&text);
   rkb_problems_free(&problems);
   return task;
}

/* What a plain kernel computes, in float, with the eps it is given. */
static void rms_norm(const float *x, const float *weight, float *y, int rows, int length, float eps) {
   for (int r = 0; r < rows; r++) {
      float sum = 0;
      for (int d = 0; d < length; d++)
         sum += x[r * length + d] * x[r * length + d];
      float inverse = 1 / sqrtf(sum / (float)length + eps);
      for (int d = 0; d < length; d++)
         y[r * length + d] = x[r * length + d] * inverse * weight[d];
   }
}

static const rkb_family_t *family_named(const rkb_task_t *task, const rkb_case_t *the_case,
                                        const char *name) {
   const rkb_family_t *family;
   for (uint32_t i = 0; (family = rkb_task_family(task, the_case, i)) != NULL; i++)
      if (strcmp(family->name, name) == 0)
         return family;
   fail_msg("no family %s", name);
   return NULL;
}

static rkb_judgement_t judge(const rkb_task_t *task, const rkb_case_t *the_case, const char *family,
                             float eps) {
   rkb_inputs_t *inputs;
   rkb_expected_t *expected;
   rkb_error_t err = {0};
   rkb_judgement_t judgement;
   int rows = (int)the_case->dims[0].value, length = (int)the_case->dims[1].value;
   float *x = malloc(sizeof *x * rows * length), *weight = malloc(sizeof *x * length),
         *y = malloc(sizeof *x * rows * length);
   assert_int_equal(
      rkb_task_inputs_open(task, the_case, family_named(task, the_case, family), 7, &inputs, &err), RKB_OK);
   assert_int_equal(rkb_task_inputs_fill(inputs, 0, 0, (uint64_t)(rows * length), x, &err), RKB_OK);
   assert_int_equal(rkb_task_inputs_fill(inputs, 1, 0, (uint64_t)length, weight, &err), RKB_OK);
   assert_int_equal(rkb_task_expect(inputs, &expected, &err), RKB_OK);
   rms_norm(x, weight, y, rows, length, eps);
   rkb_points_t points = rkb_task_expected_points(expected, 2);
   assert_int_equal(points.count, rows * length);
   assert_int_equal(rkb_task_judge(inputs, 2, y, NULL, &points, NULL, false, &judgement, &err), RKB_OK);
   rkb_task_expected_free(expected);
   rkb_task_inputs_free(inputs);
   free(x);
   free(weight);
   free(y);
   return judgement;
}

static void test_right_kernel_is_accepted(void **state) {
   (void)state;
   rkb_task_t *task = load("rms_norm", "forward");
   for (uint32_t i = 0; i < 2; i++) {
      const rkb_case_t *the_case = rkb_task_case(task, RKB_CASE_CHECK, i);
      const rkb_family_t *family;
      for (uint32_t f = 0; (family = rkb_task_family(task, the_case, f)) != NULL; f++) {
         rkb_judgement_t judgement =
            judge(task, the_case, family->name, (float)the_case->attributes[0].value);
         if (judgement.standing_is_reject || judgement.suspect)
            fail_msg("%s %s: %s, element %llu: got %.9g, want %.9g, bound %.3g", the_case->name, family->name,
                     judgement.reason, (unsigned long long)judgement.element, judgement.got, judgement.want,
                     judgement.bound);
      }
   }
   rkb_task_free(task);
}

static void test_wrong_eps_shows_in_the_guarded_family(void **state) {
   (void)state;
   rkb_task_t *task = load("rms_norm", "forward");
   rkb_judgement_t judgement = judge(task, rkb_task_case(task, RKB_CASE_CHECK, 1), "guarded", 1e-6f);
   assert_int_equal(judgement.standing_is_reject, 1);
   assert_string_equal(judgement.reason, "numeric.mismatch");
   rkb_task_free(task);
}

static void test_backward_tensors(void **state) {
   (void)state;
   static const char *const names[] = {"grad_y", "x", "weight", "grad_x", "grad_weight"};
   rkb_task_t *task = load("rms_norm", "backward");
   const rkb_case_t *the_case = rkb_task_case(task, RKB_CASE_CHECK, 0);
   assert_int_equal(the_case->tensor_count, 5);
   for (uint32_t i = 0; i < 5; i++) {
      assert_string_equal(the_case->tensors[i].name, names[i]);
      assert_int_equal(the_case->tensors[i].role, i < 3 ? RKB_IN : RKB_OUT);
   }
   rkb_task_free(task);
}

/* The forward pass's output and a value of its graph, as a backward candidate receives them. */
static void test_saved_values_are_inputs_of_backward(void **state) {
   (void)state;
   static const char *const names[] = {"grad_y", "x", "weight", "y", "inverse", "grad_x", "grad_weight"};
   rkb_task_t *backward = load("saves", "backward"), *forward = load("saves", "forward");
   const rkb_case_t *after = rkb_task_case(backward, RKB_CASE_CHECK, 1),
                    *before = rkb_task_case(forward, RKB_CASE_CHECK, 1);
   rkb_error_t err = {0};
   rkb_inputs_t *inputs, *first;
   rkb_expected_t *expected, *made;
   float y[15], inverse[5];
   bool matters = true;
   assert_int_equal(after->tensor_count, 7);
   for (uint32_t i = 0; i < 7; i++) {
      assert_string_equal(after->tensors[i].name, names[i]);
      assert_int_equal(after->tensors[i].role, i < 5 ? RKB_IN : RKB_OUT);
   }
   assert_string_equal(rkb_task_shape_text(backward, 3), "R, N");
   assert_string_equal(rkb_task_shape_text(backward, 4), "R, 1");
   assert_int_equal(
      rkb_task_inputs_open(backward, after, family_named(backward, after, "normal"), 5, &inputs, &err),
      RKB_OK);
   assert_int_equal(
      rkb_task_inputs_open(forward, before, family_named(forward, before, "normal"), 5, &first, &err),
      RKB_OK);
   assert_int_equal(rkb_task_inputs_fill(inputs, 3, 0, 15, y, &err), RKB_OK);
   assert_int_equal(rkb_task_inputs_fill(inputs, 4, 0, 5, inverse, &err), RKB_OK);
   assert_int_equal(rkb_task_expect(first, &made, &err), RKB_OK);
   for (int i = 0; i < 15; i++) /* x and weight are drawn alike in both directions */
      assert_true(y[i] == (float)rkb_task_expected_points(made, 2).value[i]);
   for (int i = 0; i < 5; i++)
      assert_true(inverse[i] > 0 && inverse[i] <= 10);
   assert_int_equal(rkb_task_expect(inputs, &expected, &err), RKB_OK);
   assert_int_equal(rkb_task_expected_points(expected, 3).count, 0);
   assert_int_equal(rkb_task_expected_points(expected, 5).count, 5 * 37);
   assert_int_equal(rkb_task_input_matters(inputs, 3, &matters, &err), RKB_OK);
   assert_false(matters); /* a kernel may recompute it */
   rkb_task_expected_free(expected);
   rkb_task_expected_free(made);
   rkb_task_inputs_free(inputs);
   rkb_task_inputs_free(first);
   rkb_task_free(backward);
   rkb_task_free(forward);
}

/* Refused before anything is allocated, with the number; what an evaluation needs is reported. */
static void test_memory_is_reported_and_bounded(void **state) {
   (void)state;
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_task_t *task = rkb_task_load(RKB_SOURCE_DIR "/tests/task/data/rms_norm", "forward", 65536, &problems);
   assert_non_null(task);
   const rkb_case_t *small = rkb_task_case(task, RKB_CASE_CHECK, 0),
                    *large = rkb_task_case(task, RKB_CASE_CHECK, 1);
   rkb_inputs_t *inputs;
   rkb_expected_t *expected;
   rkb_error_t err = {0};
   assert_int_equal(rkb_task_inputs_open(task, small, family_named(task, small, "normal"), 1, &inputs, &err),
                    RKB_OK);
   assert_int_equal(rkb_task_expect(inputs, &expected, &err), RKB_OK);
   assert_in_range(rkb_task_expected_peak_bytes(expected), 111 * 8, 65536);
   rkb_task_expected_free(expected);
   rkb_task_inputs_free(inputs);
   assert_int_equal(rkb_task_inputs_open(task, large, family_named(task, large, "normal"), 1, &inputs, &err),
                    RKB_OK);
   assert_int_equal(rkb_task_expect(inputs, &expected, &err), RKB_ERR_LIMIT);
   assert_non_null(strstr(err.message, "over the budget of 0.1 MiB"));
   rkb_task_inputs_free(inputs);
   rkb_task_free(task);
   rkb_problems_free(&problems);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_right_kernel_is_accepted),
      cmocka_unit_test(test_wrong_eps_shows_in_the_guarded_family),
      cmocka_unit_test(test_backward_tensors),
      cmocka_unit_test(test_saved_values_are_inputs_of_backward),
      cmocka_unit_test(test_memory_is_reported_and_bounded),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
