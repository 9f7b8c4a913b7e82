/* A cache of sets, as a processor's: the hash of a text chooses the set, and in a full set the entry that came first makes room (structure_cache.h).
 * The lock guards the sets and the counts of users; texts are read outside it. */
#include "structure_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
   SETS = 256,
   WAYS = 8,          /* with 1,024 texts in use, one in twenty finds its set overfull */
   MOST_HASHES = 8192 /* of a structure that is kept: 64 KiB, so 128 MiB in all at most */
};

typedef struct entry {
   kernel_structure_t structure; /* first: a structure that was taken is its entry */
   uint32_t users;        /* the cache itself is one */
   char hash[];           /* of the text */
} entry_t;

typedef struct set {
   entry_t *entries[WAYS]; /* NULL: free */
   uint32_t next;          /* the place that is filled next */
} set_t;

struct structure_cache {
   pthread_mutex_t lock;
   set_t sets[SETS];
};

static void entry_free(entry_t *entry) {
   if (!entry)
      return;
   free(entry->structure.hashes);
   free(entry);
}

structure_cache_t *structure_cache_new(void) {
   structure_cache_t *cache = calloc(1, sizeof *cache);
   if (cache)
      pthread_mutex_init(&cache->lock, NULL);
   return cache;
}

void structure_cache_free(structure_cache_t *cache) {
   if (!cache)
      return;
   for (uint32_t i = 0; i < SETS; i++)
      for (uint32_t way = 0; way < WAYS; way++)
         entry_free(cache->sets[i].entries[way]);
   pthread_mutex_destroy(&cache->lock);
   free(cache);
}

static set_t *set_of(structure_cache_t *cache, const char *hash) {
   uint32_t sum = 0;
   for (const char *at = hash; *at; at++)
      sum = sum * 31 + (unsigned char)*at;
   return &cache->sets[sum % SETS];
}

/* Under the lock. */
static entry_t *find(const set_t *set, const char *hash) {
   for (uint32_t way = 0; way < WAYS; way++)
      if (set->entries[way] && strcmp(set->entries[way]->hash, hash) == 0)
         return set->entries[way];
   return NULL;
}

static entry_t *entry_read(const rkb_kernel_api_t *kernel, const rkb_archive_row_t *row) {
   const size_t bytes = strlen(row->source_hash) + 1;
   entry_t *entry = malloc(sizeof *entry + bytes);
   if (!entry)
      return NULL;
   memcpy(entry->hash, row->source_hash, bytes);
   entry->users = 1;
   if (!kernel_structure_read(kernel, row->source, &entry->structure)) {
      entry_free(entry);
      return NULL;
   }
   /* The list was allocated for as many runs as there are tokens, which is more than it has. */
   uint64_t *fitting = realloc(entry->structure.hashes, (entry->structure.count + 1) * sizeof *fitting);
   if (fitting)
      entry->structure.hashes = fitting;
   return entry;
}

/* Drops one user; returns the entry if it was the last.  Under the lock. */
static entry_t *drop(entry_t *entry) {
   return entry && --entry->users == 0 ? entry : NULL;
}

const kernel_structure_t *structure_cache_take(structure_cache_t *cache, const rkb_kernel_api_t *kernel, const rkb_archive_row_t *row) {
   set_t *set = set_of(cache, row->source_hash);
   entry_t *replaced = NULL;
   pthread_mutex_lock(&cache->lock);
   entry_t *entry = find(set, row->source_hash);
   if (entry)
      entry->users++;
   pthread_mutex_unlock(&cache->lock);
   if (entry)
      return &entry->structure;
   entry = entry_read(kernel, row);
   if (!entry || entry->structure.count > MOST_HASHES)
      return entry ? &entry->structure : NULL;
   pthread_mutex_lock(&cache->lock);
   if (!find(set, row->source_hash)) { /* else another thread stored its own before */
      replaced = drop(set->entries[set->next]);
      set->entries[set->next] = entry;
      set->next = (set->next + 1) % WAYS;
      entry->users++;
   }
   pthread_mutex_unlock(&cache->lock);
   entry_free(replaced);
   return &entry->structure;
}

void structure_cache_return(structure_cache_t *cache, const kernel_structure_t *structure) {
   if (!structure)
      return;
   pthread_mutex_lock(&cache->lock);
   entry_t *last = drop((entry_t *)(uintptr_t)structure);
   pthread_mutex_unlock(&cache->lock);
   entry_free(last);
}
