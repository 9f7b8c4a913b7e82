/* Blocks of a launch that decide something which no sampled block decides: by conditions that the kernel asks of its blocks' places in the grid (blockIdx.x %
 * 16384 == 77), and of their threads (blockIdx.x * 256 + threadIdx.x == 1000001).  docs/decisions/telling-blocks.md.  One worker thread. */
#ifndef MACHINE_TELLING_BLOCKS_H
#define MACHINE_TELLING_BLOCKS_H

#include "block_sample.h"

#define MOST_TELLING 12u
/* Returns how many blocks it found, the rarest first; *of_threads: from which on they are there for what some of their threads alone decide.  Where memory is out it finds none. */
uint32_t telling_blocks(const struct verifier *verifier, const struct candidate *candidate, const rkb_plan_launch_t *launch,
                        const struct sampled_launch *sampled, rkb_random_t *stream, uint64_t blocks[MOST_TELLING], uint32_t *of_threads);

#endif
