/* Looks for shapes at which a kernel decides a condition by its parameters and sizes as it did at no shape before.  One thread. */
#ifndef MACHINE_SIZE_SOLVER_H
#define MACHINE_SIZE_SOLVER_H

#include "shape_conditions.h"

#define MOST_SOLVED_DIMS 16u /* of a task for which it may be asked */

struct size_solver {
   const struct verifier *verifier;
   const struct candidate *candidate;
   struct shape_conditions *conditions;
   rkb_random_t *stream;
   /* Takes a shape like base that may do; *more: whether others are wanted. */
   int (*take)(void *argument, const rkb_case_t *base, const int64_t *dims, bool *more, rkb_error_t *err);
   void *argument;
};

/* From a shape on.  again: also conditions that were solved before, so that two may hold at once. */
int size_solver_search(const struct size_solver *solver, const rkb_case_t *base, bool again,
                       rkb_error_t *err);

#endif
