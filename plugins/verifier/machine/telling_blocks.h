/* Blocks of a launch that decide something which no sampled block decides: by conditions that the kernel asks of its blocks' places in the grid (blockIdx.x %
 * 16384 == 77), and of their threads (blockIdx.x * 256 + threadIdx.x == 1000001).  docs/decisions/telling-blocks.md.  One worker thread. */
#ifndef MACHINE_TELLING_BLOCKS_H
#define MACHINE_TELLING_BLOCKS_H

#include "block_sample.h"

#define MOST_TELLING 12u
typedef struct telling telling_t;

/* Looks at the launch's blocks: at all of a small grid.  NULL: memory is out.  The stream is used until the end. */
telling_t *telling_open(const struct verifier *verifier, const struct candidate *candidate,
                        const rkb_plan_launch_t *launch, rkb_random_t *stream);
void telling_close(telling_t *telling);

/* Whether the kernel tells blocks of the grid apart that are many and of which the list has none; *block: one of them.  So the speed model sees light
 * blocks and heavy ones, where launches share a kernel.  The most frequent kind first. */
bool telling_lacks_kind(telling_t *telling, const struct sampled_launch *sampled, uint64_t *block);
/* The kinds of the list's counted blocks, and how many blocks of the grid are of each (MOST_KINDS at most).  Returns how many kinds; 0: they are not known, or one. */
uint32_t telling_kinds(telling_t *telling, const struct sampled_launch *sampled, uint8_t *kinds,
                       uint64_t *kind_blocks);

/* Returns how many blocks it found, the rarest first; *of_threads: from which on they are there for what some of their threads alone decide. */
uint32_t telling_blocks(telling_t *telling, const struct sampled_launch *sampled,
                        uint64_t blocks[MOST_TELLING], uint32_t *of_threads);

#endif
