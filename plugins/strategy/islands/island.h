/* One island: a population of bounded size, kept in rank order, and the choice of parents from it.  The
 * loop's thread. */
#ifndef ISLANDS_ISLAND_H
#define ISLANDS_ISLAND_H

#include <rkb/ext/random.h>
#include "shared/individual.h"

enum { ISLAND_SIZE_MAX = 1024, ISLAND_GUESTS_MAX = 64 };

enum selection { SELECT_TOURNAMENT, SELECT_POWER_LAW, SELECT_UNIFORM };

typedef struct member {
   individual_t individual;
   uint32_t cell;
   uint64_t born; /* order of arrival on this island */
} member_t;

typedef struct island_rules {
   uint32_t size;      /* most members */
   uint32_t elites;    /* best members that are never replaced */
   bool oldest_leaves; /* the oldest member that is no elite leaves; otherwise the worst leaves */
   bool one_per_cell;
   enum selection selection;
   uint32_t tournament; /* members drawn, the best wins */
   double exponent;     /* the chance of rank r (from 0) is proportional to (r + 1) ^ -exponent */
} island_rules_t;

typedef struct island {
   member_t *members; /* best first; room for size + 1 */
   uint32_t count;
   uint64_t births;
   /* Individuals from other islands' niches: they can be mates here but take no place. */
   individual_t guests[ISLAND_GUESTS_MAX];
   uint32_t guest_count;
} island_t;

int island_init(island_t *island, const island_rules_t *rules, rkb_error_t *err);
void island_free(island_t *island);

/* Adds an individual, unless it is there already or would lose its cell or its place at once. */
void island_add(island_t *island, const island_rules_t *rules, const individual_t *individual, uint32_t cell);

/* Chooses a parent; NULL when the island is empty.  It is another one than `except` (a number; 0: any) if
 * there is another. */
const individual_t *island_select(const island_t *island, const island_rules_t *rules,
                                  const rkb_random_api_t *random, rkb_random_t *stream, int64_t except);

/* Chooses a second parent other than `except`: in half of the draws a guest if there is one, otherwise a
 * member. */
const individual_t *island_mate(const island_t *island, const island_rules_t *rules,
                                const rkb_random_api_t *random, rkb_random_t *stream, int64_t except);

#endif
