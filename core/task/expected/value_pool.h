/* All values that a task's listed cases can be compared with: every case, its families, and the seeds of its
 * pool. */
#ifndef RKB_TASK_EXPECTED_VALUE_POOL_H
#define RKB_TASK_EXPECTED_VALUE_POOL_H

#include "task/expected/expected_sample.h"

typedef struct rkb_value_pool {
   rkb_sampling_t sampling; /* its store must not be NULL */
   uint32_t families, bench_families, seeds;
   void (*began)(void *argument, const rkb_case_t *the_case); /* may be NULL; argument is the sampling's */
} rkb_value_pool_t;

/* The number of outputs.  Each output of each case, family and seed counts. */
uint64_t rkb_value_pool_outputs(const rkb_value_pool_t *pool);

/* Evaluates and stores what the store does not have yet.  Evaluates the seeds of a family in parallel, and
 * starts with costly cases, because they decide how long it takes.  Runs on a worker, or on any thread if the
 * sampling has no workers. */
int rkb_value_pool_evaluate(const rkb_value_pool_t *pool, rkb_error_t *err);

#endif
