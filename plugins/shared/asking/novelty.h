/* Whether a kernel does something that was not tried before: its structure against that of the kernels that the job sees.
 *
 * Structure is the stream of code tokens, manifest included, in which numbers are all alike and a name that the text declares is the
 * number of its first use.  So a kernel in which only names, numbers, comments and line ends differ has the same one; names of others
 * (expf, threadIdx, __shfl_xor_sync) count.  Two kernels are alike by the runs of eight tokens that both have, divided by those that
 * either has: one changed token of 500 gives about 0.97.  A number is a choice that tune parameters explore without asking a model.
 *
 * Pure; any thread. */
#ifndef PLUGIN_ASKING_NOVELTY_H
#define PLUGIN_ASKING_NOVELTY_H

#include "context.h"

#define NOVELTY_MOST_ROWS 1024 /* the newest ones that are compared */

/* The visible candidate whose text this one repeats but for spaces, or whose structure is alike by least or more; the most alike, and of
 * equal ones the oldest.  NULL: it is new.  least above 1: texts alone are compared.  *likeness: 1 for a repeated text. */
const rkb_archive_row_t *novelty_repeated(const context_t *context, const char *source, double least, double *likeness);

#endif
