/* Draws an index by weight.  Pure; any thread. */
#ifndef STRATEGY_WEIGHTED_DRAW_H
#define STRATEGY_WEIGHTED_DRAW_H

#include <rkb/ext/random.h>

/* Draws the index of one of count weights, with a probability proportional to the weight.  Weights that are
 * not positive are never drawn; when none is positive, all are equal.  count must not be 0. */
uint32_t weighted_draw(const rkb_random_api_t *random, rkb_random_t *stream, const double *weights,
                       uint32_t count);

#endif
