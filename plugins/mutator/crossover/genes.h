/* Tune genes: values of one parent's assignment in the other's.  Pure; any thread. */
#ifndef CROSSOVER_GENES_H
#define CROSSOVER_GENES_H

#include <rkb/ext/random.h>
#include "shared/assignment.h"

/* Takes each value of the second parent with probability one half, if both manifests have the parameter and
 * the first lists the value.  `child` begins as the first parent's assignment.  At least one value is taken
 * if one differs.  Not all of them are taken if that would give the second parent again (same_source).
 * False: no value could be taken. */
bool genes_mix(const rkb_random_api_t *random, rkb_random_t *stream, const rkb_manifest_t *first,
               assignment_t *child, const rkb_manifest_t *second, const assignment_t *other,
               bool same_source);

#endif
