/* Niches: a candidate's measurements, not its request, decide its island (speciation; Stanley, Miikkulainen:
 * 'Evolving neural networks through augmenting topologies', 2002).  Candidates with equal values of the
 * chosen measurements share an island.  The loop's thread. */
#ifndef ISLANDS_NICHES_H
#define ISLANDS_NICHES_H

#include <rkb/strategy.h>
#include "island.h"

enum { NICHES_MAX = 64, NICHE_NONE = NICHES_MAX };

typedef struct niches {
   uint64_t keys[NICHES_MAX]; /* key of island i */
   uint32_t count;            /* the number of islands that have a key; these are the first ones */
} niches_t;

/* Combines the values of the named measurements into one number; a missing measurement has a value of its
 * own. */
uint64_t niche_key(const char *const *names, const rkb_told_t *told);

/* The island for a key: the one that has the key, otherwise a free one of `limit`.  If none is free, the
 * island whose best member is worst is emptied and used, provided that the individual is better than that
 * member; otherwise NICHE_NONE. */
uint32_t niche_of(niches_t *niches, uint64_t key, island_t *islands, uint32_t limit,
                  const individual_t *individual);

/* Draws an island that is not empty, by the rank of its best member: the chance of rank r (from 0) is
 * proportional to 1 / (r + 1).  NICHE_NONE when no island has members. */
uint32_t niche_draw(const niches_t *niches, const island_t *islands, const rkb_random_api_t *random,
                    rkb_random_t *stream);

#endif
