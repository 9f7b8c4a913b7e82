/* Shapes at which loops take more turns than at all others (longer_loops.c).  One thread. */
#ifndef MACHINE_LONGER_LOOPS_H
#define MACHINE_LONGER_LOOPS_H

#include "verifier.h"

/* A shape that was executed, and what came of it. */
struct executed_shape {
   const rkb_case_t *the_case;
   const struct outcome *outcome;
};

/* Executes further shapes for the loops that outcome has, which is joined from those of the shapes; what they show is added to it. */
int longer_loops_judge(const struct verifier *verifier, struct candidate *candidate,
                       const struct executed_shape *shapes, uint32_t count, struct outcome *outcome,
                       rkb_error_t *err);

#endif
