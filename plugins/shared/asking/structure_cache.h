/* Structures of the archive's kernels, by the hash of their texts: an archive holds one text for each source_hash.  Each reply of a model is compared with up
 * to NOVELTY_MOST_ROWS kernels.  The reply before was compared with nearly all of these.
 *
 * Owns the structures.  When a set is full, drops the structure of the set that was read first.  A structure that somebody has taken stays until it is
 * returned.  Any thread. */
#ifndef PLUGIN_ASKING_STRUCTURE_CACHE_H
#define PLUGIN_ASKING_STRUCTURE_CACHE_H

#include <rkb/ext/archive.h>
#include "kernel_structure.h"

typedef struct structure_cache structure_cache_t;

/* NULL when memory runs out. */
structure_cache_t *structure_cache_new(void);
/* Everything that was taken has been returned. */
void structure_cache_free(structure_cache_t *cache);

/* The structure of a kernel, which is read if the cache does not have it; NULL when memory runs out.  Return it. */
const kernel_structure_t *structure_cache_take(structure_cache_t *cache, const rkb_kernel_api_t *kernel, const rkb_archive_row_t *row);
void structure_cache_return(structure_cache_t *cache, const kernel_structure_t *structure); /* accepts NULL */

#endif
