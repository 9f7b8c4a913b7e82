/* The build cache: compiler answers, found by content key, in a directory that this user's processes share.  The directory may be
 * deleted at any time.  Every entry is sealed with its key and a key of the directory's owner, so a damaged, renamed or foreign file
 * counts as missing.  Any thread. */
#ifndef RKB_KERNEL_BUILD_CACHE_H
#define RKB_KERNEL_BUILD_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <rkb/plugin.h>

typedef struct build_cache build_cache_t;

/* Opens the cache.  directory NULL: $XDG_CACHE_HOME/rkb/build or ~/.cache/rkb/build.  RKB_ERR_UNAVAILABLE: there is no directory that belongs to this user
 * alone. */
int build_cache_open(const char *directory, uint64_t limit_bytes, build_cache_t **cache, rkb_error_t *err);
void build_cache_close(build_cache_t *cache);
/* Returns the malloc'd payload of an entry; NULL: there is no such entry. */
char *build_cache_get(build_cache_t *cache, const char *key, size_t *length);
/* Stores an entry.  Returns no status: if storing fails, a later compile takes longer, and nothing else happens. */
void build_cache_put(build_cache_t *cache, const char *key, const void *payload, size_t length);

#endif
