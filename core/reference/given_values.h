/* A program in which some values are given instead of computed: what lies behind them is computed from what they hold, as if they were
 * inputs. */
#ifndef RKB_REFERENCE_GIVEN_VALUES_H
#define RKB_REFERENCE_GIVEN_VALUES_H

#include "reference/graph_program.h"

/* The program with the log of the sum of exps of each softmax's rows, which no node of it computes and kernels keep between their launches; a copy in
 * the arena with such nodes at its end, or the program itself where it has no softmax.  For points only. */
rkb_program_t *rkb_program_with_row_sums(rkb_program_t *program, rkb_arena_t *arena);

/* A copy in the arena whose values number list[0 .. count-1] are inputs: list[n] is read from the source as tensor program->tensor_count + n.
 * A softmax whose rows' sums are given goes by them.
 * Everything else is shared with program, which must outlive it.  For points only: the nodes that would make those values are still there. */
rkb_program_t *rkb_program_with_given(const rkb_program_t *program, rkb_arena_t *arena, const uint32_t *list,
                                      uint32_t count);

/* Whether two programs, of one graph at two shapes, have the same operations on the same values: then a value's number means the same in both. */
bool rkb_program_same_nodes(const rkb_program_t *program, const rkb_program_t *other);

#endif
