/* `rkb task filter`: decides whether a task is worth optimising, with the checks that robust-kbench publishes (Lange et al. 2025,
 * "Towards Robust Agentic CUDA Kernel Benchmarking", arXiv:2509.14279).  On a task that passes, a kernel that ignores part of its
 * input or writes zeros cannot look correct. */
#ifndef RKB_TASK_FILTER_H
#define RKB_TASK_FILTER_H

#include <stdbool.h>
#include "base/json.h"
#include "base/problems.h"
#include "base/text.h"

enum rkb_filter_check {
   RKB_FILTER_RANGE,  /* outputs do not all lie inside +-0.01 */
   RKB_FILTER_SEEDS,  /* some element's standard deviation over input seeds is at least 0.01 */
   RKB_FILTER_AXES,   /* along each axis, some line's standard deviation is at least 0.01 */
   RKB_FILTER_INPUTS, /* each input affects an output */
   RKB_FILTER_INITS,  /* the init settings affect the outputs */
   RKB_FILTER_CHECKS
};

enum rkb_filter_result { RKB_FILTER_PASSED, RKB_FILTER_FAILED, RKB_FILTER_UNDECIDED };

typedef struct rkb_filter_finding {
   uint32_t result; /* enum rkb_filter_result */
   char what[256];  /* the worst output, axis or input, with the number that decided */
} rkb_filter_finding_t;

typedef struct rkb_filter {
   char task[128], judged[128]; /* the case that was evaluated ("bench/published") */
   bool smaller; /* the bench cases are too large to evaluate whole, so `judged` is a check case */
   rkb_filter_finding_t findings[RKB_FILTER_CHECKS];
} rkb_filter_t;

const char *rkb_filter_check_name(uint32_t check); /* "range", "seeds", "axes", "inputs", "inits" */
bool rkb_filter_worth(const rkb_filter_t *filter); /* true when no check failed */

/* Evaluates the forward direction of the task in directory.  RKB_ERR_INVALID, with problems, when the task does not load.  Any
 * thread. */
int rkb_task_filter(const char *directory, rkb_filter_t *filter, rkb_problems_t *problems, rkb_error_t *err);
void rkb_filter_write(const rkb_filter_t *filter, rkb_text_t *out);
json_t *rkb_filter_json(const rkb_filter_t *filter); /* owned; NULL without memory */

/* The statistics, over values[run * elements + i].  Each returns the number that its check compares with 0.01. */
double rkb_filter_largest(const double *values, uint64_t count); /* largest |value| */
double rkb_filter_seed_spread(const double *values, uint32_t runs,
                              uint64_t elements); /* largest over elements */
double rkb_filter_axis_spread(const double *values, const int64_t *shape, uint32_t rank,
                              uint32_t axis); /* largest over lines */

#endif
