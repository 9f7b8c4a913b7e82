/* Structures of the archive's kernels, by the hash of their texts: an archive holds one text for each source_hash.  Each reply of a model is compared with up to NOVELTY_MOST_ROWS kernels, nearly all
 * of which the reply before was compared with.
 *
 * Owns the structures, and drops the one that was read first of a set when the set is full.  A structure that somebody has taken stays until it is
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

/* The structure of a kernel, which is read if the cache has it not; NULL when memory runs out.  Return it. */
const kernel_structure_t *structure_cache_take(structure_cache_t *cache, const rkb_kernel_api_t *kernel, const rkb_archive_row_t *row);
void structure_cache_return(structure_cache_t *cache, const kernel_structure_t *structure); /* accepts NULL */

#endif
