/* A draw with weights.  Pure; any thread. */
#ifndef STRATEGY_WHEEL_H
#define STRATEGY_WHEEL_H

#include <rkb/ext/random.h>

/* Index of one of count weights, with probability in proportion; weights that are not positive are never
 * drawn, and when none is positive all are equal.  count must not be 0. */
uint32_t wheel_draw(const rkb_random_api_t *random, rkb_random_t *stream, const double *weights,
                    uint32_t count);

#endif
