/* The other side of a race: the thread that the records of races name, and the line of its access.  The records have no room for the line.  A run
 * that is rejected for such a race notes where the race was.  The caller may then execute the run again, and that run keeps, for each thread, the
 * instruction of its last access to those bytes.  Only rejected kernels pay for this.
 *
 * A run that keeps accesses to shared memory follows shared memory with clocks, access by access, so that machine_shared_record gets each access.
 * A run that keeps accesses to global memory watches its loads and stores (execute/store_watch.c); machine_global_record gets all other accesses.
 * The run owns what is kept; on the machine's thread. */
#ifndef RKB_MACHINE_CLOCKS_SECOND_ACCESS_H
#define RKB_MACHINE_CLOCKS_SECOND_ACCESS_H

#include "machine/state/execution.h"

/* A thread of the block that runs accesses bytes of shared memory by the instruction pc.  Called only while run->keeps_lines is set. */
void machine_other_side_note(const machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                             bool store, uint32_t pc);
/* Names the other side of a finding, which may be NULL: a thread of the block that read or wrote some of these bytes.  Where the run keeps lines,
 * adds the thread's line; otherwise the next run may look for the line. */
void machine_other_side_find(const machine_warp_t *warp, rkb_machine_finding_t *finding, uint32_t thread,
                             bool wrote, uint32_t offset, uint32_t bytes, const char *order);
/* The same in global memory.  name: of the other side, as in records (state/packed_records.h). */
void machine_other_side_note_global(const machine_warp_t *warp, uint32_t lane, uint64_t address,
                                    uint64_t bytes, bool store);
void machine_other_side_find_global(const machine_warp_t *warp, rkb_machine_finding_t *finding, uint64_t name,
                                    bool wrote, const machine_region_t *region, uint64_t offset,
                                    uint32_t bytes, const char *order);
/* A run begins; or has ended (execute/store_watch.c). */
void machine_other_side_begin(machine_run_t *run);
void machine_other_side_end(rkb_machine_t *machine);
void machine_other_side_free(machine_run_t *run);

#endif
