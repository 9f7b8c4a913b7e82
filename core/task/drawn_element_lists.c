/* A list that only grows, whose entries do not change: threads read it without a lock.  Two of them may add the same elements. */
#include "task/drawn_element_lists.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

#define MOST_KEPT 256u /* entries of a case, of some hundreds of numbers each */

struct rkb_given_pool {
   rkb_given_pool_t *next;
   rkb_pool_key_t key;
   uint32_t length; /* of the list from here on */
   uint32_t count;
   double pool[];
};

static bool same_key(const rkb_pool_key_t *a, const rkb_pool_key_t *b) {
   return a->family == b->family && a->seed == b->seed && a->count == b->count &&
          memcmp(a->values, b->values, a->count * sizeof *a->values) == 0 &&
          memcmp(a->dtypes, b->dtypes, a->count * sizeof *a->dtypes) == 0;
}

double *rkb_drawn_lists_find(const rkb_drawn_lists_t *pools, const rkb_pool_key_t *key, uint32_t *count) {
   const rkb_given_pool_t *entry = atomic_load_explicit(pools, memory_order_acquire);
   while (entry && !same_key(&entry->key, key))
      entry = entry->next;
   double *copy = entry ? rkb_try_uncleared(entry->count, sizeof *copy, NULL) : NULL;
   if (copy) {
      memcpy(copy, entry->pool, entry->count * sizeof *copy);
      *count = entry->count;
   }
   return copy;
}

void rkb_drawn_lists_keep(rkb_drawn_lists_t *pools, const rkb_pool_key_t *key, const double *pool,
                          uint32_t count) {
   rkb_given_pool_t *next = atomic_load_explicit(pools, memory_order_acquire), *entry = NULL;
   if (!next || next->length < MOST_KEPT)
      entry = rkb_try_uncleared(1, sizeof *entry + count * sizeof *pool, NULL);
   if (!entry)
      return;
   entry->key = *key;
   entry->count = count;
   memcpy(entry->pool, pool, count * sizeof *pool);
   do {
      entry->next = next;
      entry->length = next ? next->length + 1 : 1;
   } while (
      !atomic_compare_exchange_weak_explicit(pools, &next, entry, memory_order_acq_rel, memory_order_acquire));
}

void rkb_drawn_lists_free(rkb_drawn_lists_t *pools) {
   rkb_given_pool_t *entry = atomic_exchange(pools, NULL);
   while (entry) {
      rkb_given_pool_t *next = entry->next;
      free(entry);
      entry = next;
   }
}
