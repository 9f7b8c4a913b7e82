/* The parts of a loaded task; only the files that implement it include this. */
#ifndef RKB_TASK_TASK_PARTS_H
#define RKB_TASK_TASK_PARTS_H

#include "task/bound_case.h"
#include "task/inputs.h"

struct rkb_task {
   rkb_definition_t *definition; /* owned */
   rkb_task_info_t info;
   bool backward;
   uint64_t budget;
   char hash[RKB_HASH_TEXT], values_identity[RKB_HASH_TEXT + 1 + 64];
   rkb_bound_t **cases; /* owned */
   uint32_t case_count;
};

struct rkb_expected {
   uint32_t tensor_count;
   rkb_block_t *outputs; /* by case tensor; variance holds the stat bound */
   uint64_t *counts;
   uint64_t peak_bytes;
};

/* As rkb_task_expect, but in another arithmetic (unit 2^-53); for tests of the evaluator. */
int rkb_task_expect_as(const rkb_inputs_t *inputs, const rkb_precision_t *precision,
                       rkb_expected_t **expected, rkb_error_t *err);

/* As rkb_task_expect_points, for any value of the program. */
int rkb_task_value_points(const rkb_inputs_t *inputs, uint32_t value, const uint64_t *elements, uint64_t count,
                          double *values, double *hard, double *stat, uint8_t *flags, rkb_error_t *err);

/* Points of an output with the bounds of kernels that compute convolutions by minimal filtering.  memory: of such points alone, since
 * the inputs' own memory has narrower bounds.  out has room for count points; its
 * variances become stat bounds.  elements NULL: 0, 1, ... */
int rkb_task_filtered_points(const rkb_inputs_t *inputs, rkb_memory_t *memory, uint32_t tensor,
                             const uint64_t *elements, uint64_t count, rkb_block_t *out, rkb_error_t *err);

#endif
