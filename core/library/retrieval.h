/* Which entries of a library are near to what a run works on.  Pure; any thread. */
#ifndef RKB_LIBRARY_RETRIEVAL_H
#define RKB_LIBRARY_RETRIEVAL_H

#include "library/elite.h"

/* How much of two graphs is alike: operations in both by operations in either (Jaccard's index), halved when one computes a gradient
 * and the other does not.  0 to 1. */
double rkb_elite_likeness(const rkb_elite_t *one, const rkb_elite_t *other);

/* Negative when first is nearer to like than second: more alike in operations; then the same limiter, unless like has none; then the same device;
 * then the same task, where a better score by the same objective is nearer; then by identity.  0 only for the same entry. */
int rkb_elite_compare(const rkb_elite_t *like, const rkb_elite_t *first, const rkb_elite_t *second);

#endif
