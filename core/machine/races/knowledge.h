/* What each thread knows of what the others did: a vector clock a thread, for programs whose threads meet at mbarriers, one by one and
 * not warp by warp, and wait there for asynchronous operations.
 *
 * A row has a word for each thread: it knows all that this thread did at clocks up to the word's.  Then a word for each thread again: up
 * to which of those clocks a proxy fence lies on the way, so that the async proxy sees what the generic one wrote (PTX ISA 9.0, 8.8,
 * 'proxy-preserved base causality order').  Then two words for each actor, which is no thread: of an mbarrier how many of its phases are
 * known to be complete, of a thread's bulk groups, or of a warpgroup's multiplications, how many are known to be done.  The first word says
 * that what they wrote is seen too.  The second says that they are done, and no more: a thread that has waited for a phase and then starts a
 * copy tells that to whoever waits for the copy.
 *
 * Threads that know the same share a row: those of a warp, and often those of a block, learn everything at the same waits.  What a thread did
 * itself, and fenced itself, is not in its row: the first is what its clock says (races.h), the second a word beside.
 *
 * Clocks are the block's time (synchronisation.c).  Owned by the block; on the machine's thread. */
#ifndef RKB_MACHINE_RACES_KNOWLEDGE_H
#define RKB_MACHINE_RACES_KNOWLEDGE_H

#include "machine/execute/execution.h"

#define MOST_ACTORS 1024u

typedef struct machine_knowledge {
   uint32_t threads, actors; /* actors: named so far */
   uint32_t
      most_actors; /* 0: there are none, nor is there an async proxy, and of a row the threads' clocks alone count */
   uint32_t width, barriers; /* words of a row, with room for all actors; named barriers */
   uint32_t *rows;    /* [threads + 1][width]: one more than the threads, as room for an actor that is being made */
   uint32_t *of;      /* [threads]: the row of each */
   uint32_t *sharers; /* [threads + 1]: threads that have a row; 0: free */
   uint32_t *own_fenced; /* [threads]: up to which of its own clocks it has a proxy fence behind it */
   uint32_t *named;      /* [barriers][width]: of those who arrived in a phase of a named barrier */
   uint32_t *arrived;    /* [barriers]: whether anybody did; else its words are 0 */
   size_t bytes;
} machine_knowledge_t;

/* NULL when memory ran out. */
machine_knowledge_t *machine_knowledge_new(machine_run_t *run, uint32_t threads, uint32_t barriers,
                                           uint32_t most_actors);
void machine_knowledge_free(machine_run_t *run, machine_knowledge_t *knowledge);
void machine_knowledge_begin(machine_knowledge_t *knowledge); /* a block starts */
/* A new actor's number, or PTX_NONE when there are too many. */
uint32_t machine_knowledge_actor(machine_knowledge_t *knowledge);

/* The lanes, whose clock is now this one, tell each other all. */
void machine_knowledge_warp_sync(machine_warp_t *warp, uint32_t lanes, uint32_t now);
/* A named barrier of some warps: synchronisation.c. */
void machine_knowledge_arrive(machine_block_t *block, uint32_t warp, uint32_t barrier);
/* Those that have arrived and wait; a bit for each from the first one on. */
void machine_knowledge_leave(machine_block_t *block, uint32_t first, uint32_t warps, uint32_t barrier);
void machine_knowledge_complete(machine_block_t *block, uint32_t barrier);
/* A barrier of the whole block. */
void machine_knowledge_barrier(machine_block_t *block);

/* What the lanes know and did so far is joined into a row of width words; what they do from now on is not in it. */
void machine_knowledge_release(machine_warp_t *warp, uint32_t lanes, uint32_t *row);
void machine_knowledge_acquire(machine_warp_t *warp, uint32_t lanes, const uint32_t *row);
/* fence.proxy.async: what the lanes know is now seen by the async proxy too. */
void machine_knowledge_fence(machine_warp_t *warp, uint32_t lanes);
/* The end of a copy that the lane starts passes on which phases the lane knows to be complete. */
void machine_knowledge_carry(const machine_warp_t *warp, uint32_t lane, uint32_t *row);
/* The lanes know that so many of an actor's phases or groups are done. */
void machine_knowledge_note(machine_warp_t *warp, uint32_t lanes, uint32_t actor, uint32_t count);

/* Others' words of what a thread knows. */
static inline const uint32_t *machine_knowledge_row(const machine_knowledge_t *knowledge, uint32_t thread) {
   return knowledge->rows + (size_t)knowledge->of[thread] * knowledge->width;
}

static inline uint32_t machine_knowledge_used(const machine_knowledge_t *knowledge) {
   return knowledge->most_actors ? 2 * (knowledge->threads + knowledge->actors) : knowledge->threads;
}

/* Whether a thread knows what another did at a clock of its own. */
static inline bool machine_knows(const machine_knowledge_t *knowledge, uint32_t thread, uint32_t other,
                                 uint32_t clock) {
   return thread == other || machine_knowledge_row(knowledge, thread)[other] >= clock;
}

/* The same through a proxy fence. */
static inline bool machine_knows_fenced(const machine_knowledge_t *knowledge, uint32_t thread, uint32_t other,
                                        uint32_t clock) {
   return machine_knowledge_row(knowledge, thread)[knowledge->threads + other] >= clock ||
          (thread == other && knowledge->own_fenced[thread] >= clock);
}

/* How many of an actor's phases or groups a thread knows to be done, and sees. */
static inline uint32_t machine_known_count(const machine_knowledge_t *knowledge, uint32_t thread,
                                           uint32_t actor) {
   return machine_knowledge_row(knowledge, thread)[2 * (knowledge->threads + actor)];
}

/* The same without what they wrote. */
static inline uint32_t machine_passed_count(const machine_knowledge_t *knowledge, uint32_t thread,
                                            uint32_t actor) {
   return machine_knowledge_row(knowledge, thread)[2 * (knowledge->threads + actor) + 1];
}

#endif
