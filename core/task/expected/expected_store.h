/* Expected values kept in $XDG_CACHE_HOME/rkb/expected between runs, and the pool of seeds that makes keeping them useful.
 * Names, seeds and seals come from a key drawn once on this machine and readable by its owner alone: no candidate can know them.
 * rkb_store_t is immutable but for its files; any thread. */
#ifndef RKB_TASK_EXPECTED_EXPECTED_STORE_H
#define RKB_TASK_EXPECTED_EXPECTED_STORE_H

#include <rkb/ext/task.h>

/* Opens the store for values with this identity (rkb_task_values_identity).  All programs that compute the
 * same values share them, also the same program at another place.  RKB_ERR_UNAVAILABLE or RKB_ERR_IO when
 * this user has no folder of their own for the files. */
int rkb_store_open(const char *identity, rkb_store_t **store, rkb_error_t *err);
void rkb_store_close(rkb_store_t *store); /* NULL is accepted */

/* Seed number index of a case's pool. */
uint64_t rkb_store_seed(const rkb_store_t *store, const char *case_name, uint64_t index);

/* Two words that name a stored item of this task, and one that keys its checksum.  Only this machine's user can compute them. */
void rkb_store_name(const rkb_store_t *store, const char *key, uint64_t name[3]);

/* Loads the numbers stored under a key: count doubles, and bytes.  False when there are none, when this user
 * did not store the file's content under this key, or when store is NULL. */
bool rkb_store_load(const rkb_store_t *store, const char *key, double *numbers, size_t count, uint8_t *flags,
                    size_t bytes);
/* Stores numbers under a key; false when they cannot be written, or store is NULL. */
bool rkb_store_save(const rkb_store_t *store, const char *key, const double *numbers, size_t count,
                    const uint8_t *flags, size_t bytes);

#endif
