/* What input values of a pool's seed are called on a device, and the sums by which they are found whole there. */
#ifndef RKB_TASK_EXPECTED_STAGED_VALUES_H
#define RKB_TASK_EXPECTED_STAGED_VALUES_H

#include "task/expected/expected_store.h"

/* The name of one tensor's values; true when their sum is known, which *sum then is. */
bool rkb_staged_find(const rkb_store_t *store, const rkb_case_t *the_case, const rkb_family_t *family,
                     uint64_t seed, uint32_t tensor, uint64_t name[3], uint64_t *sum);
/* Keeps their sum. */
void rkb_staged_keep(const rkb_store_t *store, const rkb_case_t *the_case, const rkb_family_t *family,
                     uint64_t seed, uint32_t tensor, uint64_t sum);

#endif
