/* Asynchronous operations that read or write shared memory by themselves: bulk copies, tensor copies, matrix products of a warpgroup.  They
 * go through the async proxy (PTX ISA 9.0, 8.8 and 9.7.9.25), begin when a thread starts them and end when threads observe that they have.
 *
 * An operation belongs to an actor (clocks/vector_clocks.h) and is the n-th of its phases or groups.  A thread has observed the operation's end
 * when it knows of n: it has waited, or it is ordered after a thread that has waited.  So no order of events is followed, only
 * what each thread knows:
 *
 *    - A thread that accesses bytes that an operation writes, or writes bytes that it reads, must know that the operation is done;
 *      otherwise race.async.
 *    - A thread that starts an operation must be ordered after the accesses to the bytes that it writes, and after the writes to the
 *      bytes that it reads; otherwise race.async.
 *    - Between a generic write and an operation there must be a proxy fence; otherwise race.proxy.
 *
 * To follow a family of operations: machine_actor_new once, machine_operation_start when an instruction starts one, machine_operation_reads
 * and machine_operation_writes for each range of shared memory, machine_actor_observed when threads have waited.  A decoder of such an
 * instruction sets program->asynchronous.  All of them do nothing in runs that look for no races.
 *
 * Kept for one block; owned by it; on the machine's thread. */
#ifndef RKB_MACHINE_IN_FLIGHT_OPERATIONS_H
#define RKB_MACHINE_IN_FLIGHT_OPERATIONS_H

#include "machine/state/execution.h"

typedef struct machine_operation {
   uint32_t actor, count; /* done when so many of the actor's phases or groups are */
   uint32_t thread, pc;   /* that started it; of the block */
   const char *what;      /* "a bulk copy"; static text */
   bool generic;          /* through the generic proxy: st.async, red.async */
   bool reduces;          /* in no order with others that do */
} machine_operation_t;

typedef struct machine_operations machine_operations_t;

machine_operations_t *machine_operations_new(machine_run_t *run, const machine_program_t *program,
                                             uint32_t shared_bytes, uint32_t shift);
void machine_operations_free(machine_run_t *run, machine_operations_t *operations);
void machine_operations_begin(machine_block_t *block);

/* A name for what completes operations in order; PTX_NONE when races are not followed, or after a finding that there are too many. */
uint32_t machine_actor_new(machine_block_t *block);
/* The lanes have observed that the first count phases or groups of an actor are done. */
void machine_actor_observed(machine_warp_t *warp, uint32_t lanes, uint32_t actor, uint32_t count);
/* The same by a relaxed wait: they do not see what these phases or groups wrote. */
void machine_actor_noticed(machine_warp_t *warp, uint32_t lanes, uint32_t actor, uint32_t count);
/* Whether the lane's thread knows that so many are done. */
bool machine_actor_known(const machine_warp_t *warp, uint32_t lane, uint32_t actor, uint32_t count);
/* The same, but the thread need not see what they wrote.  It tells whether a phase is the next one. */
bool machine_actor_passed(const machine_warp_t *warp, uint32_t lane, uint32_t actor, uint32_t count);

/* The lane starts one at the warp's current instruction; 0: not followed, which reads and writes take too. */
uint32_t machine_operation_start(machine_warp_t *warp, uint32_t lane, uint32_t actor, uint32_t count,
                                 const char *what);
/* The same for a reduction, which may overlap with other reductions. */
uint32_t machine_reduction_start(machine_warp_t *warp, uint32_t lane, uint32_t actor, uint32_t count,
                                 const char *what);
/* The same of st.async and red.async. */
uint32_t machine_store_start(machine_warp_t *warp, uint32_t lane, uint32_t actor, uint32_t count,
                             bool reduces);
/* It reads or writes these bytes of the block's shared memory.  False after a finding. */
bool machine_operation_reads(machine_warp_t *warp, uint32_t lane, uint32_t operation, uint32_t offset,
                             uint32_t bytes);
bool machine_operation_writes(machine_warp_t *warp, uint32_t lane, uint32_t operation, uint32_t offset,
                              uint32_t bytes);

/* The same for pieces of 16 bytes at multiples of 16, as matrix products read them.  Several operations of the same instruction, actor and group
 * may read the same pieces; then `name` is a number that tells these pieces from others that they read.  name 0: no other operation reads these
 * pieces. */
bool machine_operation_reads_pieces(machine_warp_t *warp, uint32_t lane, uint32_t operation, uint64_t name,
                                    const uint32_t *offsets, uint32_t count);
/* The same without checks, for bytes that the generic proxy writes; the copy was checked when it began. */
void machine_operation_owns(machine_block_t *block, uint32_t operation, uint32_t offset, uint32_t bytes);

/* A thread's asynchronous copy (copies.h) writes these bytes from now on, after the access was recorded: no thread knows of this write until the wait
 * records it anew. */
void machine_operations_copying(machine_block_t *block, uint32_t offset, uint32_t bytes);

/* An access through the generic proxy, before it is recorded (races.c); true after a finding. */
bool machine_operations_touched(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                                bool store, bool atomic);
/* warp_accesses.c: plain accesses of a warp's lanes at once, where all lanes know the same, in a block that is in no cluster.  Whether they touch no
 * mbarrier, and no operation whose end the lanes have not observed; if not, the functions for one lane make the finding. */
bool machine_warp_apart(const machine_warp_t *warp, const uint32_t *offset, uint32_t mask, uint32_t bytes,
                        bool store);
/* Notes such accesses for the operations that begin later. */
void machine_warp_accessed(machine_warp_t *warp, const uint32_t *offset, uint32_t mask, uint32_t bytes,
                           bool store);
const machine_operation_t *machine_operation_at(const machine_block_t *block, uint32_t operation);
/* When the block ends: makes a finding if an operation whose end no thread has observed still reads or writes words of shared memory. */
void machine_operations_end(machine_block_t *block);

#endif
