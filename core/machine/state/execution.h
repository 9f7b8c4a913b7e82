/* The state of a run.  memory_regions.h has its memory, block_state.h its launches, blocks and warps, run_counts.h what is counted.  One thread;
 * struct rkb_machine owns all of it. */
#ifndef RKB_MACHINE_STATE_EXECUTION_H
#define RKB_MACHINE_STATE_EXECUTION_H

#include "machine/machine.h"
#include "machine/state/run_counts.h"
#include "machine/state/block_state.h"
#include "machine/state/mixed_numbers.h"
#include "machine/state/memory_regions.h"

#include <string.h>

/* A shadow word with this NaN stands for no shadow: the f32 itself counts. */
#define NO_SHADOW 0x7ff4dead00000000ull

/* Bits of machine_run_t.place for a block's number in the sample.  A plan has at most 64 launches. */
#define PLACE_BITS 20
#define MOST_PLACES ((1u << PLACE_BITS) - 1)

/* Results of barrier_bypass.c about two basic blocks of a program. */
#define MACHINE_BYPASSES 64
typedef struct machine_bypass {
   const machine_program_t *program;
   uint32_t left, barrier_block;
   bool went_round;
} machine_bypass_t;

/* The bytes of a race whose second access has no known line.  Records of races name the other thread but not its line (clocks/second_access.h). */
typedef struct machine_second_access {
   bool wanted; /* the run was rejected for such a race, and the line is not known */
   bool global; /* the bytes are addresses; else offsets in the shared memory of the block */
   uint32_t launch;
   uint64_t block; /* the number in the launch of the other thread's block; UINT64_MAX: of any block */
   uint64_t first, end;
   uint32_t threads;
   uint32_t *
      last; /* [threads][2]: 1 + the instruction by which each thread last read there, and the same for its last write */
   /* The last two threads that read there, the last one first; and the same for writes. */
   struct machine_accessor {
      uint32_t thread, pc; /* 1 + the thread; 0: nobody */
      uint64_t serial;     /* of its block */
   } recent[2][2];
} machine_second_access_t;

typedef struct machine_run {
   rkb_machine_options_t options;
   const ptx_module_t *module;
   const rkb_plan_t *plan;
   /* By launch; launches of one kernel share a program.  The module owns the programs, except while a buffer
    * is watched (store_watch.c). */
   const machine_program_t **programs;
   machine_region_t *regions;
   uint32_t region_count;
   uint64_t *variable_address; /* by number of the module's variable */
   /* The region in which blocks of a cooperative launch meet; PTX_NONE: no kernel asks for it. */
   uint32_t workspace;
   uint8_t *local;             /* frame bytes * lanes * warps */
   uint8_t *local_defined;
   double *local_shadow;
   uint64_t local_taint;
   uint32_t isa;
   bool races, shadow, taint;
   uint64_t order; /* the order of blocks and warps: rkb_machine_set_order */
   uint64_t environment, origin, window_base[WINDOW_PARAM + 1]; /* environment.h */
   bool close;                                                  /* the regions lie close together */
   uint16_t region_there[MAX_REGIONS], place_of[MAX_REGIONS];   /* by place, and by region */
   /* Findings */
   rkb_machine_finding_t *findings;
   uint32_t finding_count;
   /* Undefined stores, which become findings only if the bytes are still undefined at the end. */
   rkb_machine_finding_t *kept;
   uint32_t kept_count, kept_room;
   bool stop; /* something decisive was found; the run ends at the next instruction boundary */
   bool keeps_lines; /* the lines of accesses, for second_access */
   bool out_of_memory;
   /* Results */
   rkb_machine_report_t report;
   struct machine_map_fences *map_fences; /* fences of tensor maps in global memory (map_fences.h) */
   machine_run_counts_t counts;
   machine_work_t work;
   uint64_t *found;     /* by launch: how often something was found in it, listed or not */
   /* By launch: the inputs that reached its control and addresses in runs with taint. */
   uint64_t *deciding;
   /* By launch: recording was refused, so the launch is executed on every set of buffers. */
   bool *apart;
   bool steering_known;           /* whether a run with taint came to its end */
   struct machine_record *record; /* recording.h; NULL: nothing is recorded */
   bool repeats;                  /* a record is being repeated: values are moved and nothing is checked */
   struct machine_together *together; /* joint_sets.h; NULL: no joint run so far */
   uint64_t memory;
   uint64_t huge_left; /* bytes that memory made on demand may still take in huge pages */
   uint32_t place;   /* the block that runs: its launch, then its number in the sample */
   uint64_t *stored; /* by launch: the buffers that it stored to (rkb_machine_stored) */
   bool unfinished;  /* some blocks of the launch that runs are not executed (partial_launches.c) */
   bool cut;         /* the block that runs has done options.block_work */
   /* By launch, by place and buffer: what its blocks wrote; NULL where nothing is known. */
   rkb_machine_extent_t **extents;
   uint32_t *extent_places;                   /* by launch: how many places extents has */
   struct machine_tickets *tickets;           /* by launch: memory/ticket_words.h */
   bool moving;                               /* options.moved moves words of the launch that runs */
   struct machine_stored_runs *stored_runs;   /* memory/stored_runs.h; NULL: nobody asks */
   struct machine_stored_bytes *block_stores; /* what the block that runs has stored */
   struct machine_pattern *patterns;          /* by launch (partial_launches.c) */
   uint32_t block_store_count, block_store_room;
   uint64_t next_serial;
   /* Blocks with higher serial numbers may overlap with the next launch, if that one is a dependent
    * launch. */
   uint64_t overlap_first;
   bool interrupted;       /* the launch that runs is (execute/interruptions.h) */
   uint64_t interruptions; /* numbers that were drawn for it */
   bool left_locked; /* an interruption may have left what a warp of its block polls for to another warp */
   uint32_t idle; /* rounds of blocks side by side in which no block changed anything */
   /* The blocks of this launch run side by side, and a warp that waits gives up its turn
    * (resident_blocks.c). */
   bool side_by_side;
   /* Number of stores, atomic operations that changed something, released barriers, and warps that ended. */
   uint64_t changes;
   /* Number of stores to shared memory that may have left bytes there without a value, and of begun blocks. */
   uint64_t undefinings;
   /* log2 of the granule for which the global race records were made. */
   uint32_t record_shift;
   struct machine_sync *sync;             /* synchronisation locations */
   struct machine_watch *watch;           /* store_watch.c; NULL: no buffer is watched */
   machine_second_access_t second_access;
   struct machine_decisions *decisions;   /* decision_notes.c; NULL: decisions are not noted */
   struct machine_loops *loops;           /* turn_counts.c; NULL: turns are not counted */
   bool counts_loops;                     /* they are in the launch that runs */
   machine_bypass_t bypasses[MACHINE_BYPASSES];
   machine_launch_t *launch; /* the launch that runs */
   uint32_t runs;
   uint8_t *pool;                /* memory of the warps of a block: registers and the rest */
   size_t pool_bytes, pool_room; /* pool_bytes are used and counted; pool_room are there */
   machine_warp_t *warps;
   machine_block_t block;
   const machine_program_t *pool_program;
   uint32_t pool_warps, pool_warps_room;
} machine_run_t;

struct rkb_machine {
   machine_run_t run;
};

/* Whether the caller needs no value that depends on inputs with this taint (options.no_values). */
static inline bool machine_unasked(const machine_run_t *run, uint64_t taint) {
   return run->options.no_values && (taint & ~run->options.valued);
}

/* So many bytes of memory that are cleared or copied are as much work as one thread-instruction.  Allocations do not count, because they
 * depend on earlier runs.  Each block clears its registers, its shared and its local memory, and that counts. */
#define MACHINE_BYTES_OF_WORK 32u
static inline void machine_count_bytes(machine_run_t *run, uint64_t bytes) {
   run->work.burden += bytes / MACHINE_BYTES_OF_WORK;
}

/* Gives zeroed memory, which counts against the budget.  When there is none it sets out_of_memory and returns
 * NULL. */
void *machine_alloc(machine_run_t *run, size_t bytes);
/* The same, but the memory may hold anything. */
void *machine_alloc_uncleared(machine_run_t *run, size_t bytes);
void machine_release(machine_run_t *run, void *memory, size_t bytes);
/* Counts memory that exists already as asked bytes instead of kept bytes; false when the budget has no
 * room. */
bool machine_account(machine_run_t *run, size_t kept, size_t asked);

/* cluster_shape.c: the clusters of a launch whose blocks have so many bytes of shared memory. */
machine_cluster_t machine_cluster_of(const rkb_plan_launch_t *plan, const machine_program_t *program,
                                     uint32_t shared_bytes);

/* execution_order.c: the number, of `total` blocks or warps, of the one that is n-th in this run's order. */
uint64_t machine_in_order(const machine_run_t *run, uint64_t n, uint64_t total);
/* In a shuffled order, gives each warp of a block its turn, which differs from block to block. */
void machine_order_warps(machine_block_t *block);
/* The number of the warp of a block that runs n-th. */
uint32_t machine_warp_in_order(const machine_block_t *block, uint32_t n);
/* The lanes of a warp make an atomic operation in the order of their numbers, with these bits turned. */
uint32_t machine_lanes_turned(const machine_run_t *run);
/* The lanes that seem active to each of the lanes that execute activemask together: all of them, or some, and to the others the others.  Nothing
 * promises that lanes that parted at a branch go on together behind it, before they take part together in an operation (PTX ISA 9.0, 9.7.13). */
uint32_t machine_lanes_active(machine_warp_t *warp, uint32_t lanes);
/* A number that this run's order gives for two others. */
static inline uint64_t machine_order_number(const machine_run_t *run, uint64_t first, uint64_t second) {
   return machine_mixed(run->order ^ machine_mixed(first ^ machine_mixed(second)));
}
/* Accesses of the kind that a waiting lane makes, after which a warp counts as one that waits. */
#define STRONG_PATIENCE 64u
/* hung_warps.c: reports that the kernel does not end, or that it waits for a block that cannot run at the same time here; stops the run. */
void machine_stop_hang(machine_warp_t *warp);
/* resident_blocks.c: executes all blocks of a launch side by side, at each time as many as the target
 * holds. */
void machine_residents_run(machine_launch_t *launch);
/* The same with the blocks of a sample, for options.beside.  Returns how many have begun. */
uint64_t machine_residents_run_sample(machine_launch_t *launch, const rkb_machine_blocks_t *sample);
/* Notes the addresses that a warp polls. */
void machine_note_polled(machine_warp_t *warp, const uint64_t address[LANES], uint32_t mask, uint32_t bytes);
/* execute_block.c: the parts of a block's execution. */
void machine_block_start(machine_launch_t *launch, uint64_t linear);
/* Gives a turn to each warp that can run, and releases barriers; true when the block ended, or when it cannot be executed any further. */
bool machine_block_turn(machine_block_t *block);
void machine_block_end(machine_block_t *block);

/* findings.c: adds a finding at the warp's current instruction.  lane PTX_NONE: the finding is of no single
 * lane.  The caller may complete the returned finding.  NULL when the same reason was reported at the same
 * instruction before; that finding's count then grows. */
rkb_machine_finding_t *machine_find(machine_warp_t *warp, uint32_t standing, const char *reason,
                                    uint32_t lane, const char *fmt, ...)
   __attribute__((format(printf, 5, 6)));
/* Adds a finding that belongs to no instruction. */
rkb_machine_finding_t *machine_find_launch(machine_run_t *run, uint32_t standing, const char *reason,
                                           const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Fills a finding's place, thread and registers without adding it. */
void machine_describe(const machine_warp_t *warp, uint32_t lane, rkb_machine_finding_t *finding);
void machine_thread_index(const machine_block_t *block, uint32_t thread, uint32_t out[3]);
/* The index of a thread's block.  serial: of its cluster, or of the block itself where there are no
 * clusters. */
void machine_block_index(const machine_launch_t *launch, uint64_t serial, uint32_t thread, uint32_t out[3]);
/* Names a thread of the block as the other side of a finding; the finding may be NULL. */
void machine_find_other(rkb_machine_finding_t *finding, const machine_block_t *block, uint32_t thread);
/* The same for a thread of the block, or of the cluster, with that serial number, in any launch; and the instruction that it executed. */
void machine_find_other_of(rkb_machine_finding_t *finding, const machine_launch_t *launch, uint64_t serial,
                           uint32_t thread);
void machine_find_other_line(rkb_machine_finding_t *finding, const machine_program_t *program, uint32_t pc);
/* Adds to the finding of a wait without end: only threads of the block, or of its cluster, could end the wait, and all of them wait or have ended.
 * The finding may be NULL. */
void machine_find_within_block(rkb_machine_finding_t *finding);
/* The same with the instruction that it executed, and with what is known of the order of the two, as static text. */
void machine_find_other_at(rkb_machine_finding_t *finding, const machine_block_t *block, uint32_t thread,
                           uint32_t pc, const char *order);
/* For a finding that has no second side, or whose other side executed nothing: adds the reason.  Static text. */
void machine_find_alone(rkb_machine_finding_t *finding, const char *why);
/* The last instruction of the basic block in which a thread ended. */
uint32_t machine_end_of_thread(const machine_block_t *block, uint32_t thread);

/* The source line that an instruction comes from; without one, its line in the PTX. */
uint32_t machine_source_line(const machine_program_t *program, uint32_t pc);
/* The place of the statement in that line of the PTX, with the line of the source where the PTX names it. */
void machine_name_line(const ptx_module_t *module, uint32_t ptx_line, rkb_machine_finding_t *finding);

/* regions.c: gives the workspace of cooperative launches the contents that a launch finds.  Returns its address; 0 where no kernel asks for it. */
void machine_workspace_renew(machine_run_t *run);
uint64_t machine_workspace_address(const machine_run_t *run);

/* environment.c */
/* The region at the place of an address; NULL where there is none.  The address may lie before the region's first byte or behind its last. */
machine_region_t *machine_region_at(machine_run_t *run, uint64_t address);
/* The region behind that place in the order of addresses; NULL where there is none. */
machine_region_t *machine_region_behind(machine_run_t *run, uint64_t address);
/* The machine's own form of a generic address: WINDOW << 56 plus an offset where the address lies in a
 * window. */
static inline uint64_t machine_generic(const machine_run_t *run, uint64_t address) {
   for (uint64_t window = WINDOW_SHARED; window <= WINDOW_PARAM; window++)
      if (address - run->window_base[window] < 1ull << 32)
         return window << WINDOW_SHIFT | (address - run->window_base[window]);
   return address;
}
void machine_undefined_address(machine_warp_t *warp, uint32_t lanes);
/* Remembers the first undefined store to a region.  It becomes a finding at the end if the bytes are still
 * undefined. */
void machine_undefined_store(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                             uint32_t bytes);
/* Reports an atomic operation on bytes that hold no value. */
void machine_uninitialised_atomic(machine_warp_t *warp, uint32_t lane, const uint64_t *offset,
                                  const machine_region_t *region, uint32_t bytes);
void machine_fault(machine_warp_t *warp, uint32_t lane, uint64_t address, uint32_t space, uint32_t bytes,
                   bool store);

/* warp_fragments.c */
void machine_fragments_merge(machine_warp_t *warp);
/* The next fragment to run: the deepest call first, then the lowest rank.  PTX_NONE when all wait. */
uint32_t machine_fragment_pick(const machine_warp_t *warp, uint32_t other_than);
/* Whether any of these lanes has an undefined value where the value decides something; if so, reports it. */
bool machine_undefined_control(machine_warp_t *warp, uint32_t undefined, const char *what);
/* control_transfers.c: executes an instruction that may move lanes to another place.  True when the caller
 * must choose a fragment anew. */
bool machine_transfer(machine_warp_t *warp, uint32_t fragment, const machine_instruction_t *i, uint32_t mask);

/* execute_warp.c: runs a warp until it waits, ends, or has used its quantum. */
void machine_warp_run_portable(machine_warp_t *warp);
void machine_warp_run_v3(machine_warp_t *warp);
static inline void machine_warp_run(machine_warp_t *warp) {
   (warp->run->isa ? machine_warp_run_v3 : machine_warp_run_portable)(warp);
}
/* barriers.c */
void machine_barrier_arrived(machine_warp_t *warp, uint32_t barrier, uint32_t threads); /* bar.arrive */
bool machine_barriers_release(machine_block_t *block); /* true when some warp may go on */
void machine_barriers_stuck(machine_block_t *block);
/* barrier_bypass.c: reports threads that exited without coming to a barrier that is otherwise complete. */
void machine_barrier_bypassed(machine_block_t *block, uint32_t rank, uint32_t barrier);
/* regions.c */
bool machine_lay_out(machine_run_t *run); /* false when there is no memory for it */
void machine_take_asked(machine_run_t *run); /* before a block; with options.asked */
void machine_regions_free(machine_run_t *run);
bool machine_has_sparse(const machine_run_t *run); /* whether any variable is sparse */
/* Makes a region's race records.  Without memory it makes none, stops the run and returns false. */
bool machine_global_records(machine_run_t *run, machine_region_t *region);
/* Returns zeros for a region's records.  They count against the budget here; those of a sparse region count when its pages are met.  If it returns
 * NULL, it has stopped the run. */
void *machine_records(machine_run_t *run, const machine_region_t *region, uint64_t bytes);
void machine_drop_records(machine_run_t *run); /* drops all race records */
/* Before a launch: gives back the pages of large race records of buffers that the launch does not take.  Accesses of an earlier launch
 * cannot race with a later launch.  Records of a buffer that the launch takes keep their pages, because the launch would ask for them again. */
void machine_forget_records(machine_run_t *run, const rkb_plan_launch_t *next);
bool machine_begin_buffers(machine_run_t *run, const rkb_machine_buffer_t *buffers);
bool machine_copy_constants(machine_run_t *run); /* copies the plan's constants; false after a finding */
/* A digest of 64 bits of what the module's variables hold. */
uint64_t machine_variables_digest(const machine_run_t *run);
bool machine_variables_reached(const machine_run_t *run); /* whether an input reached a variable */
/* values_of_earlier_runs.c: values that a run reads of module variables and that an earlier run left there. */
bool machine_kept_begin(machine_run_t *run); /* before a run; false without memory */
void machine_kept_free(machine_region_t *region);
/* Notes a write.  renews: the new value does not depend on the old one. */
void machine_kept_write(machine_region_t *region, uint64_t offset, uint64_t bytes, bool renews);
bool machine_is_kept(const machine_region_t *region, uint64_t offset, uint64_t bytes);
/* The taint of a read of these bytes of a variable. */
uint64_t machine_kept_taint(machine_run_t *run, const machine_region_t *region, uint64_t offset,
                            uint64_t bytes);
/* Whether blocks that were not executed may have written some of these bytes. */
bool machine_is_open(const machine_region_t *region, uint64_t offset, uint64_t bytes);
void machine_kept_find(machine_run_t *run); /* after a run that changed variables */
/* partial_launches.c, partial_blocks.c: what a launch leaves when some of its blocks are not executed. */
bool machine_partial_lay_out(machine_run_t *run); /* false without memory */
void machine_partial_free(machine_run_t *run);
void machine_partial_begin(machine_launch_t *launch, uint64_t count, bool whole);
void machine_partial_end(machine_launch_t *launch, bool whole);
/* The block at this place of the launch's sample waited. */
void machine_partial_waits(machine_launch_t *launch, uint64_t place);
/* After a block: takes up what it stored.  If the block stopped because it needed a value that an unexecuted block writes, forgets what the block
 * stored and lets the run go on with the next block. */
void machine_partial_block(machine_run_t *run);
/* Before a launch whose words are moved: lets everything hold no value that its blocks may change. */
void machine_partial_forget(machine_launch_t *launch);
/* ticket_words.c: words from which blocks draw numbers, in launches of which some blocks are not executed. */
struct machine_drawing {
   uint64_t old, value, left; /* what was in the word, the operand, and what is in the word now */
   uint32_t operation, type, bytes;
   bool used;  /* the block takes what it found there */
   bool known; /* the word held a value */
};
void machine_tickets_begin(machine_launch_t *launch);
void machine_tickets_note(machine_run_t *run, machine_region_t *region, uint64_t offset,
                          const struct machine_drawing *drawing);
/* Whether a load gets what other blocks left in these bytes because they are a word from which blocks draw by compare-and-swap. */
bool machine_tickets_look(machine_run_t *run, const machine_region_t *region, uint64_t offset,
                          uint32_t bytes);
void machine_tickets_block(machine_run_t *run); /* after a block */
/* Before the block at a place of the sample: moves the words on.  False: what the block would find there is not known. */
bool machine_tickets_move(machine_run_t *run, uint64_t place);
/* These note that a block stored bytes, and which of the bytes that it read are not final. */
void machine_partial_store(machine_run_t *run, machine_region_t *region, uint64_t offset, uint64_t bytes);
void machine_partial_read(machine_region_t *region, uint64_t offset, uint64_t bytes);
/* execute_launch.c: executes a launch; true when it ran to its end. */
bool machine_launch_run(machine_run_t *run, uint32_t number);
/* execute_plan.c.  Begins a run on these buffers: no findings, nothing executed, and memory as it is at the
 * start.  False without memory. */
bool machine_run_begin(machine_run_t *run, const rkb_machine_buffer_t *buffers);
/* joint_launch.c: executes a launch on every set of buffers; true when it ran to its end on the first set. */
bool machine_launch_run_together(machine_run_t *run, uint32_t number);
/* joint_sets.c: after a block was executed and recorded, repeats it on the other sets. */
void machine_follow(machine_launch_t *launch, uint64_t linear);
void machine_together_free(machine_run_t *run);
/* special_registers.c: writes those that stay the same for the whole launch, in all warps.  Called after the pool is prepared. */
void machine_launch_begin(machine_launch_t *launch);
/* Writes those that name the block; the first warp's come first. */
void machine_write_block_index(machine_block_t *block, machine_warp_t *warp);
/* execute_block.c */
void machine_block_run(machine_launch_t *launch, uint64_t linear);
bool machine_pool_prepare(machine_run_t *run, const machine_program_t *program,
                          const machine_cluster_t *cluster);
void machine_pool_free(machine_run_t *run);

static inline double machine_no_shadow(void) {
   double value;
   uint64_t bits = NO_SHADOW;
   memcpy(&value, &bits, sizeof value);
   return value;
}

static inline bool machine_has_shadow(double value) {
   uint64_t bits;
   memcpy(&bits, &value, sizeof bits);
   return bits != NO_SHADOW;
}

/* Gives each lane of a register a shadow.  A lane without one gets its f32 value.  In lanes/shadow_float32.c,
 * one for each instruction set. */
void machine_shadow_take_portable(machine_warp_t *warp, uint32_t offset, uint32_t number);
void machine_shadow_take_v3(machine_warp_t *warp, uint32_t offset, uint32_t number);
static inline void machine_shadow_fill(machine_warp_t *warp, uint32_t offset, uint32_t number) {
   if (warp->valid[number] != FULL_MASK)
      (warp->run->isa ? machine_shadow_take_v3 : machine_shadow_take_portable)(warp, offset, number);
}

/* The same for the registers that an instruction reads; the first is always one. */
static inline __attribute__((always_inline)) void machine_shadow_fill_read(machine_warp_t *warp,
                                                                           const machine_instruction_t *i) {
   machine_shadow_fill(warp, i->a, i->ai);
   if (i->bi)
      machine_shadow_fill(warp, i->b, i->bi);
   if (i->ci)
      machine_shadow_fill(warp, i->c, i->ci);
}

static inline void machine_count_products(machine_run_t *run, uint64_t products) {
   run->work.products += products;
   if (run->work.products > MACHINE_FREE_PRODUCTS)
      run->work.burden += products / MACHINE_PRODUCTS_OF_WORK;
}

#endif
