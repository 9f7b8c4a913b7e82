/* Judges places of chosen elements: the indices that topk, sort, argmax and argmin give.
 *
 * The bounds of a place reach to the farthest element that may stand at its turn, and say nothing of those between.  So the judge looks
 * at the elements of the row.  A place is wrong if no rounding brings its element to its turn, if an earlier turn of its row has it too, if
 * its element is certainly before that of an earlier turn, or if an element that no turn has is certainly before it.  docs/numerics.md,
 * 'Places'.  Any thread. */
#ifndef RKB_TASK_JUDGED_PLACES_H
#define RKB_TASK_JUDGED_PLACES_H

#include "task/inputs.h"

/* Fills in an enum rkb_place_standing for each element of the value that may be wrong within its bounds, in *places, which the caller frees.  *places
 * stays NULL where the value holds no places, where none is in doubt, or where the rows cost too much to evaluate. */
int rkb_judge_places(const rkb_inputs_t *inputs, uint32_t value, uint32_t dtype, const void *data,
                     const rkb_points_t *points, const uint64_t *elements, uint8_t **places,
                     rkb_error_t *err);

#endif
