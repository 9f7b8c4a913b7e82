/* The least arithmetic of a case, for least times and for the stated cost of a task. */
#ifndef RKB_REFERENCE_LEAST_WORK_H
#define RKB_REFERENCE_LEAST_WORK_H

#include "reference/graph_program.h"

/* As rkb_program_operations, but leaves out elements that masks throw away and products with the zeros that
 * masks make.  The program is pruned. */
void rkb_least_operations(const rkb_program_t *program, double *operations);

#endif
