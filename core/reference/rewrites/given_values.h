/* A program in which some values are given instead of computed.  Everything that depends on a given value is
 * computed from its elements, as if it were an input. */
#ifndef RKB_REFERENCE_REWRITES_GIVEN_VALUES_H
#define RKB_REFERENCE_REWRITES_GIVEN_VALUES_H

#include "reference/graph_program.h"

/* Adds, for each softmax, the log of the sum of exps of its rows.  No node of the program computes it, but
 * kernels keep it between their launches.  Returns a copy in the arena with such nodes at its end, or the
 * program itself when it has no softmax.  For points only. */
rkb_program_t *rkb_program_with_row_sums(rkb_program_t *program, rkb_arena_t *arena);

/* Copies the program into the arena and makes values number list[0 .. count-1] inputs.  Value list[n] is read
 * from the source as tensor program->tensor_count + n.  A softmax whose row sums are given reads them.  The
 * copy shares everything else with program, which must outlive it.  For points only, because the nodes that
 * would compute the given values are still there. */
rkb_program_t *rkb_program_with_given(const rkb_program_t *program, rkb_arena_t *arena, const uint32_t *list,
                                      uint32_t count);

/* Whether two programs of one graph at two shapes have the same operations on the same values.  Then a
 * value's number means the same in both. */
bool rkb_program_same_nodes(const rkb_program_t *program, const rkb_program_t *other);

#endif
