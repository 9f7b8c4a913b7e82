/* Every line of functions.txt, forward and backward: points agree with whole tensors, and gradients with
 * central differences. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "task/task_fixture.h"
#include "base/file.h"
#include "reference/functions/functions.h"
#include "task/task_parts.h"

#define MOST_OUTPUT_ELEMENTS 4096u

static rkb_inputs_t *open_inputs(const rkb_task_t *task, const rkb_case_t *the_case, uint32_t family) {
   rkb_inputs_t *inputs;
   rkb_error_t err = {0};
   if (rkb_task_inputs_open(task, the_case, rkb_task_family(task, the_case, family), 3, &inputs, &err) !=
       RKB_OK)
      fail_msg("%s", err.message);
   return inputs;
}

static rkb_expected_t *expect(const rkb_inputs_t *inputs) {
   rkb_expected_t *expected;
   rkb_error_t err = {0};
   if (rkb_task_expect(inputs, &expected, &err) != RKB_OK)
      fail_msg("%s", err.message);
   return expected;
}

/* Every family, every output: each element asked for alone and in a shuffled list. */
static void check_points(const rkb_task_t *task, const char *name) {
   const rkb_case_t *the_case = rkb_task_case(task, RKB_CASE_CHECK, 0);
   for (uint32_t f = 0; rkb_task_family(task, the_case, f); f++) {
      rkb_inputs_t *inputs = open_inputs(task, the_case, f);
      rkb_expected_t *expected = expect(inputs);
      for (uint32_t t = 0; t < the_case->tensor_count; t++) {
         rkb_points_t whole = rkb_task_expected_points(expected, t);
         uint64_t elements[MOST_OUTPUT_ELEMENTS];
         double value[MOST_OUTPUT_ELEMENTS], hard[MOST_OUTPUT_ELEMENTS], stat[MOST_OUTPUT_ELEMENTS];
         uint8_t flags[MOST_OUTPUT_ELEMENTS];
         rkb_error_t err = {0};
         if (whole.count == 0)
            continue;
         uint64_t count = whole.count < MOST_OUTPUT_ELEMENTS ? whole.count : MOST_OUTPUT_ELEMENTS;
         double largest = 0;
         for (uint64_t i = 0; i < count; i++) {
            elements[i] = (i * 7919 + 5) % whole.count;
            largest = fmax(largest, isfinite(whole.value[elements[i]]) ? fabs(whole.value[elements[i]]) : 0);
         }
         if (rkb_task_expect_points(inputs, t, elements, count, value, hard, stat, flags, &err) != RKB_OK)
            fail_msg("%s", err.message);
         for (uint64_t i = 0; i < count; i++) {
            uint64_t e = elements[i];
            bool same = value[i] == whole.value[e] || (isnan(value[i]) && isnan(whole.value[e])) ||
                        fabs(value[i] - whole.value[e]) <= 1e-12 * largest + 1e-9 * whole.hard[e];
            bool dont_care = flags[i] & whole.flags[e] & RKB_POINT_DONT_CARE;
            if (!dont_care &&
                (!same || flags[i] != whole.flags[e] || fabs(hard[i] - whole.hard[e]) > 1e-9 * whole.hard[e]))
               fail_msg("%s %s element %llu: %.17g +- %g alone, %.17g +- %g whole", name,
                        inputs->family->view.name, (unsigned long long)e, value[i], hard[i], whole.value[e],
                        whole.hard[e]);
         }
      }
      rkb_task_expected_free(expected);
      rkb_task_inputs_free(inputs);
   }
}

/* Inputs of the forward case with one element moved. */
typedef struct moved {
   const rkb_inputs_t *inputs;
   uint32_t tensor;
   int64_t element;
   double by;
} moved_t;

static int fill_moved(const void *argument, uint32_t tensor, uint64_t count, const int64_t *index,
                      double *out) {
   const moved_t *moved = argument;
   int status = rkb_inputs_source(moved->inputs, tensor, count, index, out);
   for (uint64_t i = 0; tensor == moved->tensor && i < count; i++)
      if (index[i] == moved->element)
         out[i] += moved->by;
   return status;
}

/* Sum of grad_out * out with one input element moved by by. */
static double weighted_output(const rkb_inputs_t *forward, const double *grad, uint32_t tensor,
                              int64_t element, double by) {
   const rkb_bound_t *bound = forward->bound;
   moved_t moved = {forward, tensor, element, by};
   rkb_source_t source = {fill_moved, &moved};
   rkb_block_t outputs[16] = {{0}};
   rkb_error_t err = {0};
   double sum = 0;
   uint32_t out = bound->view.tensor_count - 1;
   if (rkb_evaluate_whole(bound->program, &bound->precision, &source, bound->budget, outputs, &err) != RKB_OK)
      fail_msg("%s", err.message);
   for (uint64_t i = 0; i < bound->view.tensors[out].elements; i++)
      sum += outputs[out].value[i] * grad[i];
   rkb_block_free(&outputs[out]);
   return sum;
}

static void check_gradients(const rkb_task_t *forward, const rkb_task_t *backward, const char *name) {
   const rkb_case_t *forward_case = rkb_task_case(forward, RKB_CASE_CHECK, 0),
                    *backward_case = rkb_task_case(backward, RKB_CASE_CHECK, 0);
   rkb_inputs_t *before = open_inputs(forward, forward_case, 0),
                *after = open_inputs(backward, backward_case, 0);
   rkb_expected_t *expected = expect(after);
   uint64_t grads = backward_case->tensors[0].elements;
   float *stored = malloc(grads * sizeof *stored);
   double *grad = malloc(grads * sizeof *grad);
   rkb_error_t err = {0};
   assert_int_equal(rkb_task_inputs_fill(after, 0, 0, grads, stored, &err), RKB_OK);
   for (uint64_t i = 0; i < grads; i++)
      grad[i] = stored[i];
   for (uint32_t t = 0; t < backward_case->tensor_count; t++) {
      rkb_points_t points = rkb_task_expected_points(expected, t);
      uint32_t input = UINT32_MAX;
      for (uint32_t j = 0; points.count && j < forward_case->tensor_count; j++)
         if (strcmp(forward_case->tensors[j].name, backward_case->tensors[t].name + strlen("grad_")) == 0)
            input = j;
      for (uint64_t i = 0; i < points.count && i < 12; i++) {
         uint64_t element = (i * 31) % points.count;
         const double step = 1e-5;
         double slope = (weighted_output(before, grad, input, (int64_t)element, step) -
                         weighted_output(before, grad, input, (int64_t)element, -step)) /
                        (2 * step);
         if (fabs(slope - points.value[element]) > 1e-6 * (1 + fabs(slope)))
            fail_msg("%s %s element %llu: gradient %.12g, central difference %.12g", name,
                     backward_case->tensors[t].name, (unsigned long long)element, points.value[element],
                     slope);
      }
   }
   free(stored);
   free(grad);
   rkb_task_expected_free(expected);
   rkb_task_inputs_free(before);
   rkb_task_inputs_free(after);
}

static void test_each_function(void **state) {
   (void)state;
   FILE *file = fopen(RKB_SOURCE_DIR "/tests/reference/functions.txt", "r");
   assert_non_null(file);
   char *line;
   int number = 0;
   for (; (line = fixture_line(file)) != NULL; number++) {
      const char *name;
      char *directory = fixture_function(line, number, &name);
      rkb_task_t *forward = fixture_load(directory, "forward"),
                 *backward = fixture_load(directory, "backward");
      check_points(forward, name);
      if (backward) {
         check_points(backward, name);
         check_gradients(forward, backward, name);
      }
      rkb_task_free(forward);
      rkb_task_free(backward);
      free(directory);
      free(line);
   }
   fclose(file);
   assert_true(number > 80);
}

/* A function that no line tries would be a promise of docs/operations.md that nothing holds. */
static void test_no_function_is_left_out(void **state) {
   (void)state;
   /* Several outputs, or no operand: tests/tools/import/samples and tasks/ hold them against PyTorch. */
   static const char *const elsewhere[] = {"chunk", "full", "arange", NULL};
   char *texts[2] = {NULL, NULL};
   const char *const paths[] = {RKB_SOURCE_DIR "/tests/reference/functions.txt",
                                RKB_SOURCE_DIR "/docs/operations.md"};
   for (int i = 0; i < 2; i++) {
      size_t length;
      rkb_error_t err = {0};
      assert_int_equal(rkb_file_read(paths[i], 1 << 20, &texts[i], &length, &err), RKB_OK);
   }
   for (const char *const *name = rkb_function_names(); *name; name++) {
      char line[80], row[80];
      bool known = false;
      snprintf(line, sizeof line, "\n%s | ", *name);
      snprintf(row, sizeof row, "\n| %s |", *name);
      for (int i = 0; elsewhere[i]; i++)
         known |= strcmp(elsewhere[i], *name) == 0;
      if (!known && !strstr(texts[0], line))
         fail_msg("%s is not in tests/reference/functions.txt", *name);
      if (!strstr(texts[1], row))
         fail_msg("%s is not in docs/operations.md", *name);
   }
   free(texts[0]);
   free(texts[1]);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_function),
                                      cmocka_unit_test(test_no_function_is_left_out)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
