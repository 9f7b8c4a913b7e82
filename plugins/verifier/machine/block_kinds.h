/* Blocks of a launch that decide something which no sampled block decides: by conditions that the kernel asks of its blocks' places in the grid (blockIdx.x %
 * 16384 == 77), and of their threads (blockIdx.x * 256 + threadIdx.x == 1000001).  docs/decisions/block-kinds.md.  One worker thread. */
#ifndef MACHINE_BLOCK_KINDS_H
#define MACHINE_BLOCK_KINDS_H

#include "block_sample.h"

#define MOST_CHOSEN_BY_KIND 12u
typedef struct block_kinds block_kinds_t;

/* Looks at the launch's blocks: at all of a small grid.  NULL: memory is out.  The stream is used until the end. */
block_kinds_t *block_kinds_open(const struct verifier *verifier, const struct candidate *candidate,
                                const rkb_plan_launch_t *launch, rkb_random_t *stream);
void block_kinds_close(block_kinds_t *kinds_of_grid);

/* Whether the kernel tells apart a kind that many blocks of the grid are of and the list has no block of; *block: one of the most frequent such kind, inside its
 * range of blocks as place from 0 to 1 says.  So the
 * speed model sees light blocks and heavy ones, where launches share a kernel. */
bool block_kinds_lacks_kind(block_kinds_t *kinds_of_grid, const struct sampled_launch *sampled, double place,
                            uint64_t *block);
/* The kinds of the list's counted blocks, and how many blocks of the grid are of each (MOST_KINDS at most).  Returns how many kinds; 0: they are not known, or one. */
uint32_t block_kinds_count(block_kinds_t *kinds_of_grid, const struct sampled_launch *sampled, uint8_t *kinds,
                           uint64_t *kind_blocks);

/* Returns how many blocks it found, the rarest first; *of_threads: number of the first block that is there for what only some of its threads decide. */
uint32_t block_kinds_choose(block_kinds_t *kinds_of_grid, const struct sampled_launch *sampled,
                            uint64_t blocks[MOST_CHOSEN_BY_KIND], uint32_t *of_threads);

#endif
