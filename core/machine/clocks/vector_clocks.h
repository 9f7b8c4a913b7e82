/* A vector clock for each thread: how much it knows of the operations of each other thread.  Threads meet at mbarriers one by one, not warp
 * by warp, and wait there for asynchronous operations.
 *
 * A row has three parts.  First, a word for each thread: the owner of the row knows all that this thread did
 * at clocks up to the word.  Then another word for each thread: the clock up to which a proxy fence lies between that thread and the owner, so
 * that the async proxy sees what the generic proxy wrote (PTX ISA 9.0, 8.8, 'proxy-preserved base causality order').  In programs whose fences differ in
 * that, these are two words: for shared memory, and for global memory.  In programs that release by relaxed operations behind fences of the generic proxy,
 * one more word says the same of such fences: what such an operation releases (PTX ISA 9.0, 8.8, 'release patterns').  Then two words for each
 * actor, which is no thread: an mbarrier, whose phases are counted, or a thread's bulk groups or a warpgroup's multiplications.  The first word
 * says how many of them the owner knows to be done and whose writes it sees.  The second says how many it only knows to be done: a thread that has
 * waited for a phase and then starts a copy passes this knowledge on to threads that wait for the copy.
 *
 * Threads with equal knowledge share a row: those of a warp, and often those of a block, learn everything at the same waits.  A thread's
 * own operations are not in its row, since its clock has them (races.h).  What it fenced itself is in own_fenced.
 *
 * Clocks are times of the block (block_time.c).  Owned by the block; on the machine's thread. */
#ifndef RKB_MACHINE_CLOCKS_VECTOR_CLOCKS_H
#define RKB_MACHINE_CLOCKS_VECTOR_CLOCKS_H

#include "machine/state/execution.h"

#define MOST_ACTORS 1024u

typedef struct machine_knowledge {
   uint32_t threads, actors; /* actors: how many have a number so far */
   /* 0: the program has no actors and no async proxy, and a row has only the threads' clocks. */
   uint32_t most_actors;
   /* Words of each thread about fences: of the async proxy, 1, or 2 where fences for shared and for global memory are told apart; and the last one of
    * the generic proxy, if the program needs it. */
   uint32_t fences, proxies;
   /* width: words of a row, with room for all actors; barriers: named barriers. */
   uint32_t width, barriers;
   /* [room + 1][width]: one row more than there are threads, for the row that is being made.  In clusters of very many threads there are fewer
    * rows, because the lanes of a warp mostly know the same; even then no thread uses the last row. */
   uint32_t *rows;
   uint32_t room;
   uint32_t *of;         /* [threads]: the number of each thread's row */
   uint32_t *sharers;    /* [threads + 1]: how many threads have this row; 0: the row is free */
   uint32_t *own_fenced; /* [fences][threads]: the thread's own clock at its last such fence; 0: none */
   /* [barriers][width]: joined rows of the threads that arrived in a barrier's phase. */
   uint32_t *named;
   uint32_t *arrived; /* [barriers]: whether any thread arrived; if not, the words of its row are 0 */
   size_t bytes;
} machine_vector_clocks_t;

/* proxies: 0: no actors either.  generic: fences of the generic proxy are followed too.  NULL when memory ran out. */
machine_vector_clocks_t *machine_vector_clocks_new(machine_run_t *run, uint32_t threads, uint32_t barriers,
                                                   uint32_t proxies, bool generic);
void machine_vector_clocks_free(machine_run_t *run, machine_vector_clocks_t *knowledge);
void machine_vector_clocks_begin(machine_vector_clocks_t *knowledge); /* a block starts */
/* A new actor's number, or PTX_NONE when there are too many. */
uint32_t machine_vector_clocks_actor(machine_vector_clocks_t *knowledge);

/* Sets the clock of the lanes and exchanges all that they know. */
void machine_vector_clocks_warp_sync(machine_warp_t *warp, uint32_t lanes, uint32_t now);
/* A named barrier of some warps (clocks.c): a warp arrives. */
void machine_vector_clocks_arrive(machine_block_t *block, uint32_t warp, uint32_t barrier);
/* The warps that waited go on: a bit for each, from warp `first` on. */
void machine_vector_clocks_leave(machine_block_t *block, uint32_t first, uint32_t warps, uint32_t barrier);
void machine_vector_clocks_complete(machine_block_t *block, uint32_t barrier);
/* A barrier of the whole block completes. */
void machine_vector_clocks_barrier(machine_block_t *block);

/* Release: joins what the lanes know and did so far into a row of width words.  Their later operations are not in it.  Acquire: joins such
 * a row into what the lanes know. */
void machine_vector_clocks_release(machine_warp_t *warp, uint32_t lanes, uint32_t *row);
void machine_vector_clocks_acquire(machine_warp_t *warp, uint32_t lanes, const uint32_t *row);
/* A fence of the generic proxy (fence.acq_rel, fence.sc): relaxed operations that follow it release what the lanes did and knew before it.  Then such an
 * operation: what a fence covers joins a row, and what the lanes know of actors and of fences of the async proxy; lanes that executed no fence join
 * nothing. */
void machine_vector_clocks_fence_generic(machine_warp_t *warp, uint32_t lanes);
void machine_vector_clocks_release_fenced(machine_warp_t *warp, uint32_t lanes, uint32_t *row);
/* fence.proxy.async: from now on the async proxy sees what the lanes know.  spaces: FENCES_*. */
void machine_vector_clocks_fence(machine_warp_t *warp, uint32_t lanes, uint32_t spaces);
/* Joins into a row which phases and groups the lane knows to be done.  The end of a copy that the lane starts
 * passes this on. */
void machine_vector_clocks_carry(const machine_warp_t *warp, uint32_t lane, uint32_t *row);
/* Notes that the lanes know so many of an actor's phases or groups to be done.  sees: they also see what these wrote. */
void machine_vector_clocks_note(machine_warp_t *warp, uint32_t lanes, uint32_t actor, uint32_t count,
                                bool sees);

/* A thread's row: what it knows of the other threads. */
static inline const uint32_t *machine_vector_clocks_row(const machine_vector_clocks_t *knowledge,
                                                        uint32_t thread) {
   return knowledge->rows + (size_t)knowledge->of[thread] * knowledge->width;
}

/* Words of a row in front of those of actors. */
static inline uint32_t machine_vector_clocks_lead(const machine_vector_clocks_t *knowledge) {
   return knowledge->threads * (1 + knowledge->fences);
}

static inline uint32_t machine_vector_clocks_used(const machine_vector_clocks_t *knowledge) {
   return machine_vector_clocks_lead(knowledge) + 2 * knowledge->actors;
}

/* Whether a thread knows what another thread did at a clock of that other thread. */
static inline bool machine_knows(const machine_vector_clocks_t *knowledge, uint32_t thread, uint32_t other,
                                 uint32_t clock) {
   return thread == other || machine_vector_clocks_row(knowledge, thread)[other] >= clock;
}

/* The same, with a proxy fence on the way: for shared memory, or for global memory. */
static inline bool machine_knows_fenced(const machine_vector_clocks_t *knowledge, uint32_t thread,
                                        uint32_t other, uint32_t clock) {
   return machine_vector_clocks_row(knowledge, thread)[knowledge->threads + other] >= clock ||
          (thread == other && knowledge->own_fenced[thread] >= clock);
}
static inline bool machine_knows_fenced_global(const machine_vector_clocks_t *knowledge, uint32_t thread,
                                               uint32_t other, uint32_t clock) {
   const uint32_t last = knowledge->threads * (knowledge->proxies - 1);
   return machine_vector_clocks_row(knowledge, thread)[last + knowledge->threads + other] >= clock ||
          (thread == other && knowledge->own_fenced[last + thread] >= clock);
}

/* The thread's clock at its last fence of the generic proxy; 0: it executed none, or they are not followed. */
static inline uint32_t machine_released_at(const machine_vector_clocks_t *knowledge, uint32_t thread) {
   return knowledge->fences > knowledge->proxies
             ? knowledge->own_fenced[(size_t)knowledge->threads * knowledge->proxies + thread]
             : 0;
}

/* How many of an actor's phases or groups a thread knows to be done, and whose writes it sees. */
static inline uint32_t machine_known_count(const machine_vector_clocks_t *knowledge, uint32_t thread,
                                           uint32_t actor) {
   return machine_vector_clocks_row(knowledge, thread)[machine_vector_clocks_lead(knowledge) + 2 * actor];
}

/* The same, whether it sees their writes or not. */
static inline uint32_t machine_passed_count(const machine_vector_clocks_t *knowledge, uint32_t thread,
                                            uint32_t actor) {
   return machine_vector_clocks_row(knowledge, thread)[machine_vector_clocks_lead(knowledge) + 2 * actor + 1];
}

#endif
