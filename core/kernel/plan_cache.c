/* Keeps the plans of one build, by shape (kernel.h).
 *
 * Owns a reference to each plan that it keeps.  Any thread: plans are made under the lock, so that no two threads make the same one; that takes some
 * microseconds. */
#include "kernel/plan.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/memory.h"

enum {
   LISTS = 256,
   MOST_PLANS = 4096,    /* judging a convolution needs 1,700 */
   MOST_BYTES = 16 << 20 /* memory of all plans that are kept; most have 1 to 4 KB */
};

/* A plan depends only on the numbers of its case: the dims and the attributes, which all cases of a task have in the same order. */
typedef struct kept {
   struct kept *next;
   rkb_plan_t *plan;
   uint32_t count;
   uint64_t numbers[]; /* dims, then the bits of attributes */
} kept_t;

struct rkb_plan_cache {
   pthread_mutex_t lock;
   kept_t *lists[LISTS]; /* by the hash of the numbers */
   uint32_t count;
   size_t bytes;
};

rkb_plan_cache_t *rkb_plan_cache_new(void) {
   rkb_plan_cache_t *cache = rkb_allocate(1, sizeof *cache);
   pthread_mutex_init(&cache->lock, NULL);
   return cache;
}

void rkb_plan_cache_free(rkb_plan_cache_t *cache) {
   if (!cache)
      return;
   for (uint32_t n = 0; n < LISTS; n++)
      for (kept_t *kept = cache->lists[n], *next; kept; kept = next) {
         next = kept->next;
         rkb_plan_free(kept->plan);
         free(kept);
      }
   pthread_mutex_destroy(&cache->lock);
   free(cache);
}

static uint32_t count_of(const rkb_case_t *the_case) {
   return the_case->dim_count + the_case->attribute_count;
}

static uint64_t number_of(const rkb_case_t *the_case, uint32_t n) {
   uint64_t bits;
   if (n < the_case->dim_count)
      return (uint64_t)the_case->dims[n].value;
   memcpy(&bits, &the_case->attributes[n - the_case->dim_count].value, sizeof bits);
   return bits;
}

static kept_t **list_of(rkb_plan_cache_t *cache, const rkb_case_t *the_case) {
   uint64_t hash = 0;
   for (uint32_t n = 0; n < count_of(the_case); n++) {
      const uint64_t number = number_of(the_case, n);
      hash = rkb_hash64(&number, sizeof number, hash);
   }
   return &cache->lists[hash % LISTS];
}

static bool is_of(const kept_t *kept, const rkb_case_t *the_case) {
   bool same = kept->count == count_of(the_case);
   for (uint32_t n = 0; same && n < kept->count; n++)
      same = kept->numbers[n] == number_of(the_case, n);
   return same;
}

/* Called under the lock. */
static void keep(rkb_plan_cache_t *cache, kept_t **list, const rkb_case_t *the_case, rkb_plan_t *plan) {
   const size_t bytes = plan_bytes(plan);
   if (cache->count == MOST_PLANS || cache->bytes + bytes > MOST_BYTES)
      return;
   kept_t *kept = rkb_allocate(1, sizeof *kept + count_of(the_case) * sizeof *kept->numbers);
   kept->plan = rkb_plan_ref(plan);
   kept->count = count_of(the_case);
   for (uint32_t n = 0; n < kept->count; n++)
      kept->numbers[n] = number_of(the_case, n);
   kept->next = *list;
   *list = kept;
   cache->count++;
   cache->bytes += bytes;
}

int rkb_plan_cache_take(rkb_plan_cache_t *cache, const rkb_manifest_t *manifest, const char *tune_json,
                        const rkb_build_t *build, const rkb_device_t *device, const rkb_case_t *the_case,
                        rkb_lookup_t lookup, void *argument, rkb_plan_t **plan, rkb_finding_t *finding,
                        rkb_error_t *err) {
   int status = RKB_OK;
   pthread_mutex_lock(&cache->lock);
   kept_t **list = list_of(cache, the_case);
   const kept_t *kept = *list;
   while (kept && !is_of(kept, the_case))
      kept = kept->next;
   *plan = kept ? rkb_plan_ref(kept->plan) : NULL;
   if (!kept)
      status =
         rkb_plan_make(manifest, tune_json, build, device, the_case, lookup, argument, plan, finding, err);
   if (status == RKB_OK && *plan && !kept)
      keep(cache, list, the_case, *plan);
   pthread_mutex_unlock(&cache->lock);
   return status;
}
