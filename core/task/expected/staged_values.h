/* The names under which a device holds the input values of a pool's seed, and the checksums that prove the
 * values there whole. */
#ifndef RKB_TASK_EXPECTED_STAGED_VALUES_H
#define RKB_TASK_EXPECTED_STAGED_VALUES_H

#include "task/expected/expected_store.h"

/* Sets the name of one tensor's values.  Returns true when their checksum is stored, and sets *sum to it. */
bool rkb_staged_find(const rkb_store_t *store, const rkb_case_t *the_case, const rkb_family_t *family,
                     uint64_t seed, uint32_t tensor, uint64_t name[3], uint64_t *sum);
/* Stores the values' checksum. */
void rkb_staged_keep(const rkb_store_t *store, const rkb_case_t *the_case, const rkb_family_t *family,
                     uint64_t seed, uint32_t tensor, uint64_t sum);

#endif
