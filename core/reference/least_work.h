/* The least arithmetic of a case, for least times and for the stated cost of a task. */
#ifndef RKB_REFERENCE_LEAST_WORK_H
#define RKB_REFERENCE_LEAST_WORK_H

#include "reference/graph_program.h"

/* As rkb_program_operations, without what masks throw away and without products with the zeros they leave.  The program is
 * pruned. */
void rkb_least_operations(const rkb_program_t *program, double *operations);

#endif
