/* The second access of a race: the source line at which the other thread read or wrote.  Records of races name the other thread, but have no room for its
 * line.  A run that is rejected for a race notes the bytes of the race.  The caller may then execute the run again.  The second run keeps, for each
 * thread, the instruction of its last access to these bytes.  Only rejected kernels pay for this.
 *
 * A run that keeps accesses to shared memory follows shared memory with clocks, access by access, so that machine_shared_record gets each access.
 * A run that keeps accesses to global memory watches its loads and stores (execute/store_watch.c); machine_global_record gets all other accesses.
 * The run owns what is kept; on the machine's thread. */
#ifndef RKB_MACHINE_CLOCKS_SECOND_ACCESS_H
#define RKB_MACHINE_CLOCKS_SECOND_ACCESS_H

#include "machine/state/execution.h"

/* Notes that a thread of the present block accesses bytes of shared memory by the instruction pc.  Called only while run->keeps_lines is set. */
void machine_second_access_note(const machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                                bool store, uint32_t pc);
/* Adds to a finding (NULL: to none) the other thread of the race, which read or wrote some of these bytes of the block's shared memory.  If the run keeps
 * lines, adds the thread's line; otherwise the next run may look for it. */
void machine_second_access_find(const machine_warp_t *warp, rkb_machine_finding_t *finding, uint32_t thread,
                                bool wrote, uint32_t offset, uint32_t bytes, const char *order);
/* The same for global memory, for a finding at this lane.  name: the other thread's name in records (state/packed_records.h), of any launch
 * so far.  Where the name stands for several threads or for copies, the second run names the thread that accessed the bytes last. */
void machine_second_access_note_global(const machine_warp_t *warp, uint32_t lane, uint64_t address,
                                       uint64_t bytes, bool store);
void machine_second_access_find_named(const machine_warp_t *warp, uint32_t lane,
                                      rkb_machine_finding_t *finding, uint64_t name, bool wrote,
                                      const machine_region_t *region, uint64_t offset, uint32_t bytes,
                                      const char *order);
/* The same, but a name of an earlier launch says nothing. */
void machine_second_access_find_global(const machine_warp_t *warp, uint32_t lane,
                                       rkb_machine_finding_t *finding, uint64_t name, bool wrote,
                                       const machine_region_t *region, uint64_t offset, uint32_t bytes,
                                       const char *order);
/* Called when a run begins, and when it has ended (execute/store_watch.c). */
void machine_second_access_begin(machine_run_t *run);
void machine_second_access_end(rkb_machine_t *machine);
void machine_second_access_free(machine_run_t *run);

#endif
