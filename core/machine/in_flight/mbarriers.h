/* Mbarrier objects in shared memory (PTX ISA 9.0, 9.7.13.15): phases that complete when all expected arrivals have come and all bytes
 * that were announced have been copied.
 *
 * Values move as the machine executes; order is judged by what threads know (clocks/vector_clocks.h).  There an mbarrier is an actor, whose phases
 * are counted.  Each operation must be of the same phase in every order that the program allows.  So a thread that arrives in a phase, announces
 * bytes for it or waits for it must know that the phase before is complete; otherwise the finding is sync.phase.
 *
 * A wait that finds its phase incomplete fails once, gives up the warp's turn, and is then executed again only when some phase completes; its
 * fragment is stalled until then.  A wait for a phase that the thread does not know to be complete fails once even if the phase is complete,
 * because a copy may be slower on a device.  When nothing else can run, the missing arrivals and bytes are named.  Where a program may see how often
 * its waits fail (decode/seen_arrivals.c), other orders of its threads have other numbers of failures.
 *
 * Owned by the block; on the machine's thread. */
#ifndef RKB_MACHINE_IN_FLIGHT_MBARRIERS_H
#define RKB_MACHINE_IN_FLIGHT_MBARRIERS_H

#include "machine/decode/operation_codes.h"
#include "machine/state/execution.h"

#define MBARRIER_MOST_PENDING ((1u << 20) - 1)
#define MBARRIER_PATIENCE 4u

typedef struct machine_mbarrier {
   uint32_t offset;
   bool live;
   bool fenced;             /* the thread that initialised it has executed fence.mbarrier_init */
   uint32_t fence_arrivals; /* that thread's arrivals at the cluster's barrier before its fence */
   uint32_t actor;          /* PTX_NONE where races are not followed */
   uint32_t phase;          /* how many phases are complete, since the first object at this place */
   /* How many of these were complete before the object was initialised: its own phases count from there. */
   uint32_t first;
   uint32_t expected, pending; /* arrivals that each phase expects, and those that are missing in this one */
   int64_t announced;          /* bytes that expect_tx announced in this phase and no copy has brought */
   uint32_t copies;            /* complete_tx operations of this phase */
   uint32_t
      copied; /* the last phase, counted as in `phase`, of which a copy completes bytes or arrives; 0: none */
   /* Whether speed models count it among the mbarriers of which copies completed a phase. */
   bool counted;
   uint32_t init_thread, init_clock, init_pc;
   uint32_t inval_thread, inval_pc;   /* who invalidated it, where it is not live */
   uint32_t expect_thread, expect_pc; /* the last expect_tx of this phase */
   uint64_t expect_bytes;             /* bytes of all expect_tx of this phase */
   struct {
      uint32_t thread, pc; /* of the arrival or copy that completed the phase */
   } done[2];              /* the last two phases, each by its parity */
   void *memory;           /* memory of the following fields */
   uint32_t *arriving,
      /* Rows of knowledge: of this phase's arrivals, and of the last phase's.  NULL where races are not
       * followed. */
      *completed;
   uint32_t *users, *users_pc; /* by thread: its clock when it last used the object, and the instruction */
   uint32_t
      /* By thread: the number of phases that it waits for, if it was told that they are not complete (mbarrier_waits.c); and how often. */
      *failed, *failures;
   uint32_t *
      relaxed; /* by thread: phases that its relaxed waits found complete and no fence has acquired; 0: none */
   uint8_t *arrived,
      *arrived_before; /* by thread: arrivals in this phase, and in the one before, up to 255 */
} machine_mbarrier_t;

/* Where a lane last met others at match.sync: what those lanes used before, somebody who knows of one of them behind it has behind himself. */
typedef struct machine_meeting {
   uint32_t time, lanes; /* lanes: 0: nowhere */
} machine_meeting_t;

typedef struct machine_mbarriers {
   machine_mbarrier_t *all;
   uint32_t count, room;
   uint32_t threads, width; /* threads of the block; words of a row of knowledge */
   /* For each eight bytes of shared memory: the number + 1 of the object there, live or not. */
   uint16_t *at;
   uint32_t shared_bytes;
   /* how often all stalled waits may be tested once more before the run counts as a deadlock */
   uint32_t patience;
   bool relaxed; /* whether any thread of the block executed a relaxed wait */
   machine_meeting_t *meetings; /* by thread */
   bool met;                    /* whether there are any */
} machine_mbarriers_t;

machine_mbarriers_t *machine_mbarriers_new(machine_run_t *run, uint32_t shared_bytes, uint32_t threads,
                                           uint32_t width);
void machine_mbarriers_free(machine_run_t *run, machine_mbarriers_t *mbarriers);
void machine_mbarriers_begin(machine_block_t *block);

/* The object at an offset; NULL: there never was one. */
machine_mbarrier_t *machine_mbarrier_at(const machine_block_t *block, uint32_t offset);
/* Makes an object that is initialised there for the first time; NULL without memory. */
machine_mbarrier_t *machine_mbarrier_new(machine_block_t *block, uint32_t offset);
/* Whether there is an object that the lane may use, for copies too where proxied; a finding otherwise. */
bool machine_mbarrier_usable(machine_warp_t *warp, uint32_t lane, machine_mbarrier_t *mbarrier,
                             uint32_t offset, bool proxied, const char *what);
/* Whether an operation of the lane is of this phase in every order; a finding otherwise. */
bool machine_mbarrier_in_phase(machine_warp_t *warp, uint32_t lane, const machine_mbarrier_t *mbarrier,
                               const char *what);
/* An operation that the lane starts will complete so many bytes of the phase at offset.  Returns the object, whose actor and phase + 1 the
 * operation gets; NULL after a finding.  When the bytes are there, call machine_mbarrier_copied. */
machine_mbarrier_t *machine_mbarrier_for_copy(machine_warp_t *warp, uint32_t lane, uint32_t offset,
                                              const char *what);
void machine_mbarrier_copied(machine_warp_t *warp, uint32_t lane, machine_mbarrier_t *mbarrier,
                             uint32_t bytes);
/* Completes the phase if nothing is missing after an arrival or a copy of the lane; true then. */
bool machine_mbarrier_advance(machine_warp_t *warp, uint32_t lane, machine_mbarrier_t *mbarrier);
/* Adds to a finding which arrival or copy completed phase number count, one of the last two; nothing for an earlier one. */
void machine_mbarrier_name_completion(rkb_machine_finding_t *finding, const machine_warp_t *warp,
                                      const machine_mbarrier_t *mbarrier, uint32_t count);
/* Something that stalled fragments may wait for has come. */
void machine_mbarriers_wake(machine_block_t *block);
/* A generic access to bytes of a live object: true after a finding. */
bool machine_mbarriers_touched(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                               bool store);
/* A fence of the generic proxy: the lanes see what the phases wrote that their relaxed waits found complete. */
void machine_mbarriers_acquire(machine_warp_t *warp, uint32_t lanes);
/* match.sync: all lanes have come there.  The manual does not say that it orders memory, but a library (cuda::pipeline) relies on it where it ends the
 * life of mbarriers. */
void machine_mbarriers_meet(machine_warp_t *warp, uint32_t lanes);
/* fence.mbarrier_init */
void machine_mbarriers_fence(machine_warp_t *warp, uint32_t lanes);

/* mbarrier_operations.c: everything that does not wait. */
void machine_mbarrier_execute(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask);
/* mbarrier_waits.c: a test; false: the fragment stalls at it. */
bool machine_mbarrier_test(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask);
/* Nothing else in the block can run: true when some stalled fragment may go on after all. */
bool machine_mbarriers_unstick(machine_block_t *block);
/* The object at which the lane's test i waits, and how many of its phases must be complete; false after a finding. */
bool machine_mbarrier_awaited(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane,
                              machine_mbarrier_t **mbarrier, uint32_t *awaited);
/* mbarrier_stuck.c: no stalled fragment goes on any more.  Names the mbarrier that keeps the others from completing, and what it lacks; false:
 * none is stalled. */
bool machine_mbarriers_stuck(machine_block_t *block);
/* Lanes of the warp go on without others, which are absent from an instruction that all of them execute together: true after a finding, if the others are
 * held up at an mbarrier.  The finding is then about the mbarrier. */
bool machine_mbarriers_hold_up(machine_warp_t *warp, uint32_t absent);

#endif
