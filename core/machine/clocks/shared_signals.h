/* Words of shared memory by which threads of a block tell each other what they did: one changes the word behind a fence, or by a release; another reads
 * it by an atomic operation or a relaxed load, and has a fence behind that, or acquires (PTX ISA 9.0, 8.9, 'release patterns').  mbarriers.h does the same
 * at mbarriers, synchronisation.c in global memory.  Only of blocks that are in no cluster, whose shared memory is followed with clocks.
 *
 * An atomic operation adds to what the word tells; a store replaces it.  A block has a few such words: what others tell counts for nothing.  Owned by the
 * block; on the machine's thread. */
#ifndef RKB_MACHINE_CLOCKS_SHARED_SIGNALS_H
#define RKB_MACHINE_CLOCKS_SHARED_SIGNALS_H

#include "machine/state/execution.h"

typedef struct machine_signals machine_signals_t;

/* width: words of a row of knowledge.  NULL when memory ran out. */
machine_signals_t *machine_signals_new(machine_run_t *run, uint32_t threads, uint32_t width);
void machine_signals_free(machine_run_t *run, machine_signals_t *signals);
void machine_signals_begin(machine_block_t *block); /* a block starts */

/* Whether a thread of the block has told something: others may poll for it. */
bool machine_signals_any(const machine_block_t *block);

/* Whether the lane has executed a fence, so that a word which it changes tells something, by a volatile store too. */
bool machine_signal_tells(const machine_warp_t *warp, uint32_t lane);
/* The lane changes a word: by a release, or behind its last fence if it has one.  adds: by an atomic operation. */
void machine_signal_given(machine_warp_t *warp, uint32_t lane, uint32_t offset,
                          const machine_instruction_t *i, bool adds);
/* Whether the word holds what that thread stored volatile, behind a fence. */
bool machine_signal_is_of(const machine_block_t *block, uint32_t offset, uint32_t thread);
/* The lane reads a word: by an acquire, or what it says counts from the lane's next fence on. */
void machine_signal_seen(machine_warp_t *warp, uint32_t lane, uint32_t offset, bool acquires);
/* The lanes execute a fence. */
void machine_signals_fence(machine_warp_t *warp, uint32_t lanes);

#endif
