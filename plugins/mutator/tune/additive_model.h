/* Moves guided by what is known of a source's other assignments.
 *
 * An additive model: the log of the objective is a mean plus one effect for each parameter's choice, each
 * effect shrunk towards zero by how rarely the choice was tried.  Of a pool of points that nobody tried
 * (neighbours of the parent and of the best, and random ones) the one with the best draw from the model's
 * belief wins: the prediction plus noise, the wider the more rarely its choices were tried (Thompson
 * sampling: Chapelle, Li, 2011).  Requests that run side by side cannot see each other; the noise keeps them
 * from all asking for the same point.  Pure; any thread. */
#ifndef TUNE_ADDITIVE_MODEL_H
#define TUNE_ADDITIVE_MODEL_H

#include <rkb/ext/random.h>
#include "shared/assignment.h"

typedef struct guide_point {
   assignment_t at;
   bool has_objective; /* false: rejected, unknown, or not measured */
   double objective;
} guide_point_t;

/* Chooses the next assignment to try from `assignment` (the parent's) and replaces it.  False: no untried
 * point was found. */
bool additive_model_move(const rkb_random_api_t *random, rkb_random_t *stream, const rkb_manifest_t *manifest,
                         const guide_point_t *points, uint32_t point_count, assignment_t *assignment);

#endif
