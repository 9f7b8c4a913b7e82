/* The sources that a run used last (kernel.h).  A full cache drops the source that was not used for the longest time.
 *
 * Owns a reference to each source that it keeps.  Any thread: the lock guards the list, and texts are read outside it. */
#include "kernel/kernel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

enum {
   MOST_SOURCES = 256,
   MOST_TEXT = 256 << 10, /* most bytes of a text that is kept; compilers refuse longer texts */
   MOST_BYTES = 1 << 20   /* most bytes of all kept texts; with tokens and manifests they take some 10 MB, at worst 60 */
};

struct rkb_source_cache {
   pthread_mutex_t lock;
   rkb_source_t *sources[MOST_SOURCES]; /* the source that was used last comes first */
   uint32_t count;
   size_t bytes;   /* of the texts */
   uint64_t reads; /* texts that were read */
};

rkb_source_cache_t *rkb_source_cache_new(void) {
   rkb_source_cache_t *cache = rkb_allocate(1, sizeof *cache);
   pthread_mutex_init(&cache->lock, NULL);
   return cache;
}

void rkb_source_cache_free(rkb_source_cache_t *cache) {
   if (!cache)
      return;
   for (uint32_t i = 0; i < cache->count; i++)
      rkb_source_free(cache->sources[i]);
   pthread_mutex_destroy(&cache->lock);
   free(cache);
}

/* Moves the source from its place to the first place.  Called under the lock. */
static void put_first(rkb_source_cache_t *cache, rkb_source_t *source, uint32_t place) {
   memmove(cache->sources + 1, cache->sources, place * sizeof *cache->sources);
   cache->sources[0] = source;
}

/* Returns a reference to the source of a text, and puts it first.  NULL: the cache does not have it.  Called under the lock. */
static rkb_source_t *find(rkb_source_cache_t *cache, const char *text, size_t bytes) {
   for (uint32_t i = 0; i < cache->count; i++) {
      rkb_source_t *source = cache->sources[i];
      if (source->bytes == bytes && memcmp(source->text, text, bytes) == 0) {
         put_first(cache, source, i);
         return rkb_source_ref(source);
      }
   }
   return NULL;
}

/* Keeps a reference to the source.  Drops the last sources until there is room for it.  Called under the lock. */
static void keep(rkb_source_cache_t *cache, rkb_source_t *source) {
   while (cache->count && (cache->count == MOST_SOURCES || cache->bytes + source->bytes > MOST_BYTES)) {
      rkb_source_t *last = cache->sources[--cache->count];
      cache->bytes -= last->bytes;
      rkb_source_free(last);
   }
   put_first(cache, rkb_source_ref(source), cache->count);
   cache->count++;
   cache->bytes += source->bytes;
}

rkb_source_t *rkb_source_cache_find(rkb_source_cache_t *cache, const char *text, size_t bytes) {
   pthread_mutex_lock(&cache->lock);
   rkb_source_t *found = find(cache, text, bytes);
   pthread_mutex_unlock(&cache->lock);
   return found;
}

rkb_source_t *rkb_source_cache_take(rkb_source_cache_t *cache, const char *text) {
   const size_t bytes = strlen(text);
   rkb_source_t *source = rkb_source_cache_find(cache, text, bytes);
   if (source)
      return source;
   source = rkb_source_read(text);
   pthread_mutex_lock(&cache->lock);
   cache->reads++;
   rkb_source_t *other = find(cache, text, bytes); /* another thread may have read it meanwhile */
   if (!other && bytes <= MOST_TEXT)
      keep(cache, source);
   pthread_mutex_unlock(&cache->lock);
   if (!other)
      return source;
   rkb_source_free(source);
   return other;
}

uint64_t rkb_source_cache_reads(rkb_source_cache_t *cache) {
   pthread_mutex_lock(&cache->lock);
   const uint64_t reads = cache->reads;
   pthread_mutex_unlock(&cache->lock);
   return reads;
}
