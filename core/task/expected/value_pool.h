/* Everything that a task's listed cases can be compared with: all cases, their families, the seeds of their pools. */
#ifndef RKB_TASK_EXPECTED_VALUE_POOL_H
#define RKB_TASK_EXPECTED_VALUE_POOL_H

#include "task/expected/expected_sample.h"

typedef struct rkb_value_pool {
   rkb_sampling_t sampling; /* with a store */
   uint32_t families, bench_families, seeds;
   void (*began)(void *argument, const rkb_case_t *the_case); /* may be NULL; argument is the sampling's */
} rkb_value_pool_t;

/* Outputs, case, family and seed apart. */
uint64_t rkb_value_pool_outputs(const rkb_value_pool_t *pool);

/* Evaluates and stores what the store does not have yet.  The seeds of a family are evaluated in parallel, costly cases first,
 * because they decide how long it takes.  Runs on a worker, or on any thread if the sampling has no workers. */
int rkb_value_pool_evaluate(const rkb_value_pool_t *pool, rkb_error_t *err);

#endif
