/* Blind moves in the tune space: to a neighbour, or anywhere.  Pure; any thread. */
#ifndef TUNE_MOVES_H
#define TUNE_MOVES_H

#include <rkb/ext/random.h>
#include "shared/assignment.h"

/* Moves `steps` different parameters to the next value below or above; fewer if fewer can move.  False: no
 * parameter can move. */
bool move_to_neighbour(const rkb_random_api_t *random, rkb_random_t *stream, const rkb_manifest_t *manifest,
                       uint32_t steps, assignment_t *assignment);

/* Draws every parameter anew; the result is never the starting point.  False: the space has only one point. */
bool move_anywhere(const rkb_random_api_t *random, rkb_random_t *stream, const rkb_manifest_t *manifest,
                   assignment_t *assignment);

#endif
