/* Whether a kernel does something that was not tried before: compares its structure with those of the kernels
 * that the job sees.
 *
 * Structure is the stream of code tokens, manifest included, in which all numbers are alike, and a name that
 * the text declares is the number of its first use.  So kernels that differ in names, numbers, comments and
 * line ends alone have the same structure; names that others declare (expf, threadIdx, __shfl_xor_sync)
 * count.  The likeness of two kernels is the number of runs of eight tokens that both have, divided by the
 * number that either has: one changed token of 500 gives about 0.97.  Numbers do not count because tune
 * parameters explore them without asking a model.
 *
 * Owns nothing; any thread. */
#ifndef PLUGIN_ASKING_NOVELTY_H
#define PLUGIN_ASKING_NOVELTY_H

#include "context.h"
#include "structure_cache.h"

#define NOVELTY_MOST_ROWS 1024 /* the newest ones that are compared */

/* Returns the visible candidate whose text this one repeats but for spaces, or whose structure has a likeness
 * of at least `least`; the most alike, and of equal ones the oldest.  NULL: the kernel is new.  least above
 * 1: only texts are compared.  *likeness: 1 for a repeated text.  cache: the structures of texts that were compared before. */
const rkb_archive_row_t *novelty_repeated(const context_t *context, structure_cache_t *cache,
                                          const char *source, double least, double *likeness);

#endif
