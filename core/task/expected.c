/* Expected outputs with their bounds: whole tensors, or listed elements.  An rkb_expected_t belongs to its holder.  Evaluating points of
 * one rkb_inputs_t takes its lock.  Any thread. */
#include "base/memory.h"
#include "reference/evaluation_threads.h"
#include "task/task_parts.h"

#include <math.h>
#include <stdlib.h>

#define SIGMAS 8
#define MOST_FILTERED_WORK                                                                                   \
   3e10 /* as inputs have from the start: points that are judged have passed a limit before */

/* The stat bound of a point: 8 standard deviations (the allowance for truncation is in the variance already).
 */
static double stat_bound(double variance) {
   return SIGMAS * sqrt(variance);
}

void rkb_task_expected_free(rkb_expected_t *expected) {
   if (!expected)
      return;
   for (uint32_t i = 0; i < expected->tensor_count; i++)
      rkb_block_free(&expected->outputs[i]);
   free(expected->outputs);
   free(expected->counts);
   free(expected);
}

int rkb_task_expect_as(const rkb_inputs_t *inputs, const rkb_precision_t *precision,
                       rkb_expected_t **expected, rkb_error_t *err) {
   const rkb_bound_t *bound = inputs->bound;
   *expected = NULL;
   rkb_expected_t *made = rkb_allocate(1, sizeof *made);
   made->tensor_count = bound->view.tensor_count;
   made->outputs = rkb_allocate(made->tensor_count + 1, sizeof *made->outputs);
   made->counts = rkb_allocate(made->tensor_count + 1, sizeof *made->counts);
   rkb_source_t source = rkb_inputs_as_source(inputs);
   int status = rkb_evaluate_whole(bound->program, precision, &source, bound->budget, made->outputs, err);
   if (status != RKB_OK) {
      rkb_task_expected_free(made);
      return status;
   }
   made->peak_bytes = rkb_evaluate_peak(bound->program);
   for (uint32_t i = 0; i < made->tensor_count; i++) {
      if (bound->view.tensors[i].role == RKB_IN) /* a value that the forward pass saved is an input here */
         rkb_block_free(&made->outputs[i]);
      if (!made->outputs[i].value)
         continue;
      made->counts[i] = bound->view.tensors[i].elements;
      for (uint64_t j = 0; j < made->counts[i]; j++)
         made->outputs[i].variance[j] = stat_bound(made->outputs[i].variance[j]);
   }
   *expected = made;
   return RKB_OK;
}

int rkb_task_expect(const rkb_inputs_t *inputs, rkb_expected_t **expected, rkb_error_t *err) {
   return rkb_task_expect_as(inputs, &inputs->bound->precision, expected, err);
}

void rkb_task_before_forks(void) {
   rkb_evaluation_use_one_blas_thread();
}

void rkb_task_use_threads(int threads) {
   rkb_evaluation_use_threads(threads);
}

rkb_points_t rkb_task_expected_points(const rkb_expected_t *expected, uint32_t tensor) {
   if (tensor >= expected->tensor_count || !expected->outputs[tensor].value)
      return (rkb_points_t){0};
   const rkb_block_t *block = &expected->outputs[tensor];
   return (rkb_points_t){block->value, block->hard, block->variance, block->flags, expected->counts[tensor]};
}

uint64_t rkb_task_expected_peak_bytes(const rkb_expected_t *expected) {
   return expected->peak_bytes;
}

/* elements NULL: 0, 1, ... */
static int value_points(const rkb_inputs_t *inputs, const rkb_precision_t *precision, rkb_memory_t *memory,
                        double most_work, uint32_t value, const uint64_t *elements, uint64_t count,
                        rkb_block_t *out, rkb_error_t *err) {
   const rkb_bound_t *bound = inputs->bound;
   const rkb_program_t *program = rkb_inputs_program(inputs);
   int64_t *index = rkb_try_uncleared(count + 1, sizeof *index, err);
   if (!index)
      return RKB_ERR_NOMEM;
   for (uint64_t i = 0; i < count; i++) {
      const uint64_t element = elements ? elements[i] : i;
      if (element >= program->values[value].elements) {
         free(index);
         return rkb_fail(err, RKB_ERR_INVALID, "there is no element %llu in case %s",
                         (unsigned long long)element, bound->view.name);
      }
      index[i] = (int64_t)element;
   }
   rkb_source_t source = rkb_inputs_as_source(inputs);
   pthread_mutex_t *lock =
      (pthread_mutex_t *)(uintptr_t)&inputs->lock; /* the lock is the mutable part of immutable inputs */
   pthread_mutex_lock(lock);
   int status =
      rkb_evaluate_points(program, precision, &source, memory, most_work, value, count, index, out, err);
   pthread_mutex_unlock(lock);
   for (uint64_t i = 0; status == RKB_OK && i < count; i++)
      out->variance[i] = stat_bound(out->variance[i]);
   free(index);
   return status;
}

int rkb_task_value_points(const rkb_inputs_t *inputs, uint32_t value, const uint64_t *elements,
                          uint64_t count, double *values, double *hard, double *stat, uint8_t *flags,
                          rkb_error_t *err) {
   rkb_block_t out = {values, hard, stat, flags};
   return value_points(inputs, &inputs->bound->precision, inputs->memory, inputs->most_work, value, elements,
                       count, &out, err);
}

/* The same from the evaluation of whole tensors. */
static int whole_points(const rkb_inputs_t *inputs, const rkb_precision_t *precision, uint32_t tensor,
                        const uint64_t *elements, uint64_t count, rkb_block_t *out, rkb_error_t *err) {
   rkb_expected_t *expected;
   const int status = rkb_task_expect_as(inputs, precision, &expected, err);
   if (status != RKB_OK)
      return status;
   for (uint64_t i = 0; i < count; i++)
      rkb_block_put(out, i, rkb_block_get(&expected->outputs[tensor], elements ? elements[i] : i));
   rkb_task_expected_free(expected);
   return RKB_OK;
}

int rkb_task_filtered_points(const rkb_inputs_t *inputs, rkb_memory_t *memory, uint32_t tensor,
                             const uint64_t *elements, uint64_t count, rkb_block_t *out, rkb_error_t *err) {
   const rkb_bound_t *bound = inputs->bound;
   rkb_precision_t precision = bound->precision;
   precision.filtered = true;
   if (precision.passes > 0 && !inputs->given)
      return whole_points(inputs, &precision, tensor, elements, count, out, err);
   return value_points(inputs, &precision, memory, MOST_FILTERED_WORK, bound->program->outputs[tensor],
                       elements, count, out, err);
}

int rkb_task_expect_points(const rkb_inputs_t *inputs, uint32_t tensor, const uint64_t *elements,
                           uint64_t count, double *value, double *hard, double *stat, uint8_t *flags,
                           rkb_error_t *err) {
   const rkb_bound_t *bound = inputs->bound;
   if (tensor >= bound->view.tensor_count || bound->view.tensors[tensor].role == RKB_IN)
      return rkb_fail(err, RKB_ERR_INVALID, "tensor %u is not an output of case %s", tensor,
                      bound->view.name);
   return rkb_task_value_points(inputs, bound->program->outputs[tensor], elements, count, value, hard, stat, flags,
                                err);
}
