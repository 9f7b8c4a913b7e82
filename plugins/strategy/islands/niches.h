/* Niches: which island a candidate belongs to by what it is, not by which request made it (speciation; Stanley, Miikkulainen: 'Evolving
 * neural networks through augmenting topologies', 2002).  Candidates with equal values of the chosen measurements share an island.
 * The loop's thread. */
#ifndef ISLANDS_NICHES_H
#define ISLANDS_NICHES_H

#include <rkb/strategy.h>
#include "island.h"

enum { NICHES_MAX = 64, NICHE_NONE = NICHES_MAX };

typedef struct niches {
   uint64_t keys[NICHES_MAX]; /* of island i */
   uint32_t count;            /* islands that have a key, from the first */
} niches_t;

/* The values of the named measurements as one number; a measurement that is missing has a value of its own. */
uint64_t niche_key(const char *const *names, const rkb_told_t *told);

/* The island for a key: the one that has the key, else a free one of `limit`.  If none is free, the island with the worst best is
 * emptied and used, provided the individual is better than that best; else NICHE_NONE. */
uint32_t niche_of(niches_t *niches, uint64_t key, island_t *islands, uint32_t limit,
                  const individual_t *individual);

/* An island that is not empty, drawn by the rank of its best: the chance of rank r (from 0) is in proportion to 1 / (r + 1).  Without
 * members anywhere NICHE_NONE. */
uint32_t niche_draw(const niches_t *niches, const island_t *islands, const rkb_random_api_t *random,
                    rkb_random_t *stream);

#endif
