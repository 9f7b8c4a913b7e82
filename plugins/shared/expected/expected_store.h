/* Expected values kept in $XDG_CACHE_HOME/rkb/expected between runs, and the pool of seeds that makes keeping them useful.
 * Seeds come from a number drawn once on this machine and readable by its owner alone: no candidate can know them. */
#ifndef EXPECTED_STORE_H
#define EXPECTED_STORE_H

#include <rkb/ext/task.h>

typedef struct store store_t; /* immutable but for its files; any thread */

/* For the task in hand.  Whatever computes the same values shares them: two programs, the same one at another place.  NULL when there is no folder to keep things in: seeds are then drawn afresh, and nothing is kept. */
store_t *store_open(const rkb_host_t *host, const rkb_task_api_t *task);
void store_close(store_t *store); /* NULL is accepted */

/* Seed number index of a case's pool. */
uint64_t store_seed(const store_t *store, const char *case_name, uint64_t index);

/* Two words that name something of this task and one to sum it with, which nobody but this machine's user can know. */
void store_name(const store_t *store, const char *key, uint64_t name[3]);

/* The numbers kept under a key, count doubles and bytes; false when there are none, or when what lies there was not kept by this user under
 * this key. */
bool store_load(const store_t *store, const char *key, double *numbers, size_t count, uint8_t *flags,
                size_t bytes);
/* Keeps them; what cannot be written is not kept. */
void store_save(const store_t *store, const char *key, const double *numbers, size_t count,
                const uint8_t *flags, size_t bytes);

#endif
