/* Chooses the point of a tune space to try next, so that few points are tried: expected improvement under a
 * Gaussian process (Jones, Schonlau, Welch: 'Efficient global optimization of expensive black-box functions',
 * 1998).
 *
 * Owns its observations; borrows space and random.  Deterministic: its answers depend only on the space, the
 * stream and the tells.  One thread at a time. */
#ifndef TUNER_H
#define TUNER_H

#include <rkb/ext/random.h>
#include "tuning_space.h"

typedef struct tuner tuner_t;

int tuner_create(const tuning_space_t *space, const rkb_random_api_t *random, rkb_random_t stream,
                 tuner_t **out, rkb_error_t *err);
void tuner_destroy(tuner_t *tuner);

/* Chooses a point that was neither chosen nor told; it counts as average until it is told.  False: no point is left. */
bool tuner_next(tuner_t *tuner, uint32_t *point);

/* Tells the cost of a point; lower is better.  NAN: the point failed, which counts as the worst cost so far.
 * The point need not have been asked for; a second result for a point is ignored. */
void tuner_tell(tuner_t *tuner, uint32_t point, double cost);

#endif
