/* The gradient of cross entropy as kernels write it, (share - [target]) * (grad / rows) in single precision, lies inside the hard
 * bound: the reference's own form rounds once where this one rounds twice.  Shares are the exact ones, rounded. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "task/task_fixture.h"

/* One row, so that grad / rows is exact, of so many classes that the shares' own bounds are small. */
#define SHAPES 4u
#define DRAWS 4000u
#define MANY_CLASSES 400
#define SEEDS 100u
#define MOST_WORK 1e5

static uint32_t tensor_named(const rkb_case_t *c, const char *name) {
   for (uint32_t t = 0; t < c->tensor_count; t++)
      if (strcmp(c->tensors[t].name, name) == 0)
         return t;
   fail_msg("%s has no tensor %s", c->name, name);
   return 0;
}

static void *filled(const rkb_inputs_t *inputs, const rkb_case_t *c, uint32_t tensor) {
   rkb_error_t err = {0};
   void *data = malloc(c->tensors[tensor].bytes + 1);
   assert_non_null(data);
   if (rkb_task_inputs_fill(inputs, tensor, 0, c->tensors[tensor].elements, data, &err) != RKB_OK)
      fail_msg("%s", err.message);
   return data;
}

static double row_sum(const float *row, int64_t classes, float *largest) {
   double sum = 0;
   *largest = row[0];
   for (int64_t k = 1; k < classes; k++)
      *largest = fmaxf(*largest, row[k]);
   for (int64_t k = 0; k < classes; k++)
      sum += exp((double)row[k] - *largest);
   return sum;
}

static void check_inputs(const rkb_task_t *task, const rkb_case_t *c, uint64_t seed) {
   rkb_error_t err = {0};
   rkb_inputs_t *inputs = NULL;
   rkb_expected_t *expected = NULL;
   assert_int_equal(rkb_task_inputs_open(task, c, rkb_task_family(task, c, 0), seed, &inputs, &err), RKB_OK);
   assert_int_equal(rkb_task_expect(inputs, &expected, &err), RKB_OK);
   const uint32_t out = tensor_named(c, "grad_predictions");
   const uint32_t predictions = tensor_named(c, "predictions");
   const int64_t rows = c->tensors[predictions].shape[0], classes = c->tensors[predictions].shape[1];
   float *x = filled(inputs, c, predictions), *grad = filled(inputs, c, tensor_named(c, "grad_loss"));
   int64_t *targets = filled(inputs, c, tensor_named(c, "targets"));
   const rkb_points_t points = rkb_task_expected_points(expected, out);
   const float scale = grad[0] / (float)rows;
   for (int64_t row = 0; row < rows; row++) {
      float largest;
      const double sum = row_sum(x + row * classes, classes, &largest);
      for (int64_t k = 0; k < classes; k++) {
         const int64_t i = row * classes + k;
         const float share = (float)(exp((double)x[i] - largest) / sum);
         const volatile float difference = share - (targets[row] == k ? 1.0f : 0.0f);
         const volatile float got = difference * scale;
         if (!(fabs((double)got - points.value[i]) <= points.hard[i]))
            fail_msg("%s seed %llu: element %lld is %.9g and should be %.17g, within %.3g", c->name,
                     (unsigned long long)seed, (long long)i, (double)got, points.value[i], points.hard[i]);
      }
   }
   free(x);
   free(grad);
   free(targets);
   rkb_task_expected_free(expected);
   rkb_task_inputs_free(inputs);
}

static void test_difference_times_grad(void **state) {
   (void)state;
   rkb_task_t *task = fixture_load(RKB_SOURCE_DIR "/tasks/mnist_cross_entropy", "backward");
   assert_non_null(task);
   rkb_random_t stream = rkb_random_stream(1, "cross entropy's forms", 0, 0);
   rkb_error_t err = {0};
   uint32_t shapes = 0;
   for (uint32_t n = 0; n < DRAWS && shapes < SHAPES; n++) {
      rkb_case_t *c = NULL;
      if (rkb_task_case_draw(task, &stream, MOST_WORK, &c, &err) != RKB_OK)
         fail_msg("%s", err.message);
      const rkb_tensor_t *predictions = &c->tensors[tensor_named(c, "predictions")];
      if (predictions->shape[0] == 1 && predictions->shape[1] >= MANY_CLASSES) {
         shapes++;
         for (uint64_t seed = 1; seed <= SEEDS; seed++)
            check_inputs(task, c, seed);
      }
      rkb_task_case_free(c);
   }
   assert_int_equal(shapes, SHAPES);
   rkb_task_free(task);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(test_difference_times_grad)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
