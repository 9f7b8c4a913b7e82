/* The state of a run: memory, launch, block, warp.  One thread; machine_t owns all of it. */
#ifndef RKB_MACHINE_EXECUTE_EXECUTION_H
#define RKB_MACHINE_EXECUTE_EXECUTION_H

#include "machine/machine.h"
#include "machine/decode/decoded_program.h"

#include <string.h>

/* Addresses.  A buffer's base is (first + number) << 36 plus an odd multiple of its alignment, so that a buffer is found by a shift, no
 * index error of less than 64 GiB reaches another one, and no more alignment is seen than was promised.  Where the first one and the
 * generic windows of shared, local and parameter memory lie is the environment's (environment.h).  Inside the machine an address in a
 * window is WINDOW << 56 plus an offset. */
#define REGION_SHIFT 36
#define WINDOW_SHIFT 56
#define WINDOW_SHARED 1ull
#define WINDOW_LOCAL 2ull
#define WINDOW_PARAM 3ull
#define MAX_REGIONS 4096

#define UNDEFINED_STORE                                                                                      \
   2 /* value of a defined byte after a store of an undefined value; 0 never written, 1 defined */
#define ATOMIC_UNFINISHED                                                                                    \
   3 /* the same: atomic operations of blocks that are not executed are missing there (partial_launches.c) */

typedef struct machine_region {
   const char *name;
   uint64_t base, bytes;
   uint8_t *data;
   uint8_t *defined; /* a byte each; NULL: all are */
   uint8_t
      *met; /* with inputs made on demand: a bit for each piece that was made (inputs) or written (others) */
   uint32_t *met_by; /* by MET_BY_SHIFT, 1 + run->place of the block that met some of it first; beside met */
   uint32_t *
      places; /* by piece, where in data it lies, in pieces; of those that were met.  NULL: each lies at its own place (packed_inputs.c) */
   uint64_t packed;  /* pieces that have a place */
   bool read_only;   /* a tensor of role in, or .const */
   bool fetched;     /* an input, made where it is first met */
   bool constant;    /* .const variable */
   bool sparse;      /* a large variable: zeros that are mapped, made and counted where they are first met */
   uint32_t buffer;  /* plan buffer, or UINT32_MAX for a module variable */
   uint64_t *writers, *readers; /* race records by granule (races.c); NULL until needed */
   uint32_t
      *read_only_path; /* by granule: the last launch that read it so (read_only_path.c); NULL until needed */
   uint32_t read_only_launch; /* the last of those */
   double *shadow;            /* by 4 bytes; NULL until needed */
   uint64_t taint;            /* of anything in it */
   uint32_t undefined_store;  /* index + 1 of the finding kept for the first undefined store */
   bool written;              /* in the launch that runs */
   /* partial_launches.c; a bit for each word of 4 bytes, NULL in other runs */
   uint64_t *stored, *wanted; /* written in the launch that runs; read before it was final */
   uint64_t *added;           /* changed by atomic operations in the launch that runs */
   bool any_stored;           /* a bit of stored is set */
   uint64_t *wanted_pieces;   /* a bit for each piece that has such a word in wanted */
   /* Of a variable that kernels may write, a bit for each word (kept_values.c): written in this run without regard to what was there;
    * written in any run; written in a run before this one. */
   uint64_t *renewed, *touched, *left;
   bool stale; /* blocks that were not executed would have changed pieces that are made from now on */
} machine_region_t;

#define PLACE_BITS 20 /* of machine_run_t.place, for the number in a sample; launches are at most 64 */
#define MOST_PLACES ((1u << PLACE_BITS) - 1)
/* log2 of the bytes of a piece of a region that is made on demand: rows of a tile are mostly as short */
#define PIECE_SHIFT 8
#define MET_BY_SHIFT 10 /* log2 of the bytes that have one record of who met them */

/* NaN with this payload in a shadow word: no shadow, take the f32. */
#define NO_SHADOW 0x7ff4dead00000000ull

typedef struct machine_fragment { /* lanes of a warp that are at the same place */
   uint32_t pc, mask;
   uint32_t last;            /* block entered last that is not merely passing */
   uint8_t depth;            /* of calls */
   bool waiting;             /* at a barrier */
   bool stalled;             /* at an mbarrier, until a phase completes (async/mbarriers.h) */
   uint8_t barrier;          /* which */
   uint32_t barrier_threads; /* expected; 0: all */
   uint32_t returns[8];
} machine_fragment_t;

enum machine_warp_state { WARP_READY, WARP_WAITING, WARP_DONE };

#define COPY_WAIT 840u /* divisible by 1 to 8 */

typedef struct machine_warp {
   uint8_t *registers; /* program.file_bytes */
   uint32_t *defined;  /* by register number: lanes */
   uint64_t *taint;    /* by register number; NULL without taint */
   uint8_t *stale;     /* by register number, while a block is recorded: recording.h */
   double *shadow;     /* register offset * 2 bytes; NULL without shadow */
   uint32_t *valid;    /* by register number: lanes whose shadow is valid */
   struct machine_block *block;
   struct machine_run *run;
   const machine_program_t *program;
   uint32_t number, first_thread; /* among those of all blocks of the cluster */
   uint32_t rank, place;          /* of its block in the cluster; its number in that block */
   uint32_t alive;                /* lanes not exited */
   uint32_t left[LANES];          /* of lanes that exited: the fragment's last block then */
   uint32_t carry;                /* the condition code of add.cc and its kind, a bit a lane */
   uint32_t carry_defined;
   uint64_t carry_taint;
   uint32_t state;
   machine_fragment_t fragments[LANES];
   uint32_t fragment_count, current;
   uint32_t pc;   /* of the instruction being executed, for findings */
   uint64_t spin; /* instructions executed in this block */
   /* basic blocks executed with a global load in them: loads that can be in flight together count once */
   uint64_t loads;
   bool loads_open;
   bool copies_open; /* cp.async began since the last wait */
   uint64_t
      copy_waits; /* waits for them, in COPY_WAITs: a wait that leaves n groups under way hides all but a share of its time */
   /* atomic, volatile and acquiring accesses: what a lane that waits for another does */
   uint64_t strong;
   uint32_t fence_time[LANES], fence_barrier[LANES]; /* synchronisation.c */
} machine_warp_t;

typedef struct machine_barrier { /* a phase that is not complete: what bar.arrive did in it */
   uint32_t arrivals;            /* of a warp each */
   uint32_t warps;               /* that arrived, a bit each */
   uint32_t expected;            /* threads */
} machine_barrier_t;

enum { RACES_NONE, RACES_FAST, RACES_CLOCKS };

/* The blocks of a cluster are executed as one: a machine_block_t has the warps of all of them one after the other, in the order of their
 * ranks, and their shared memories.  Offsets of shared memory and numbers of threads and warps count through all.  A launch without clusters
 * has clusters of one block. */
#define MOST_CLUSTER 16u
/* In a launch with clusters an address of shared memory has the rank of the block whose byte it names from bit 24 on, as on an H200, also
 * where it is the thread's own: 0x1000400 in block 1 where block 0 has 0x400.  Nothing there says the thread's own block, so that a variable
 * may be named in the instruction; block 0 named by another one is FIRST_BLOCK. */
#define CLUSTER_SHIFT 24
#define FIRST_BLOCK MOST_CLUSTER
typedef struct machine_cluster {
   uint32_t dims[3], blocks;
   uint32_t
      warps; /* of each block; whole warpgroups where there are several blocks and the program has any */
   uint32_t threads;      /* of each block, those that there are */
   uint32_t shared_bytes; /* of each block */
   uint32_t shared_span;  /* from the first byte of one block's to the next one's */
} machine_cluster_t;

/* What the warps of a block asked for in a turn that changed nothing: global memory that another block may change. */
#define MOST_POLLED 8
typedef struct machine_polled {
   uint64_t address[MOST_POLLED], value[MOST_POLLED];
   uint32_t count;
   bool more; /* than there is room for */
} machine_polled_t;

typedef struct machine_block {
   struct machine_run *run;
   struct machine_launch *launch;
   machine_cluster_t cluster;
   uint32_t index[3]; /* of the cluster's first block */
   uint64_t serial;   /* blocks executed before, over the whole run: a block's name in race records */
   uint32_t threads,
      warp_count; /* of all; without clusters the threads that there are, else counted to whole warps */
   machine_warp_t *warps;
   uint8_t *shared, *shared_defined;
   uint32_t shared_bytes;
   uint32_t *shared_races;                       /* packed epoch, writer, reader: races.c */
   struct machine_shared_record *shared_records; /* with clocks */
   uint32_t
      shared_epoch; /* of those records: grows with each block and each barrier of one, so that older ones count as none */
   /* by granule, readers or atomics, and warp: races.c; NULL until needed */
   struct machine_spread *shared_spread;
   double *shared_shadow;
   uint64_t shared_taint;
   uint32_t races;              /* RACES_* */
   uint32_t epoch;              /* completed barriers of all threads, modulo the packed field */
   uint32_t shared_shift;       /* log2 of the granule */
   bool measured;               /* sectors and bank conflicts of its requests are counted */
   uint32_t time, barrier_time; /* synchronisation.c: grows at barriers and fences */
   struct machine_clocks *clocks;
   struct machine_copies *copies;             /* asynchronous ones on their way; NULL: not followed */
   struct machine_copy_sources *copy_sources; /* async/copy_sources.h; NULL: not followed */
   struct machine_operations *operations;   /* of the async proxy (async/operations.h); NULL: not followed */
   struct machine_mbarriers *mbarriers;     /* async/mbarriers.h; NULL: the program has none */
   struct machine_bulk_groups *bulk_groups; /* async/bulk_copies.h */
   struct machine_warpgroups *warpgroups;   /* async/warpgroups.h; NULL: the program has none */
   struct machine_cluster_barrier *cluster_barrier; /* async/cluster_barrier.h */
   struct machine_peers *peers;                  /* async/cluster_peers.h; NULL: one block, or not followed */
   machine_barrier_t barriers[MOST_CLUSTER][16]; /* by rank */
   machine_polled_t polled;                      /* while blocks run side by side: resident_blocks.c */
   struct machine_acquired *acquired;            /* synchronisation.c */
   uint32_t acquired_count, acquired_room;
   uint32_t *fenced; /* of each thread: time of its last fence before the last barrier; synchronisation.c */
   uint32_t fenced_room, fenced_copy; /* the copy that releases since then refer to, or PTX_NONE */
   bool fenced_any;
} machine_block_t;

typedef struct machine_launch {
   struct machine_run *run;
   const machine_program_t *program;
   const rkb_plan_launch_t *plan;
   uint32_t number;
   uint8_t *parameters;
   uint8_t *parameter_defined;
   uint64_t *parameter_taint; /* unused bytes are 0 */
   machine_cluster_t cluster;
   uint64_t first_serial;
   uint32_t global_shift;
   struct machine_grid_dependency
      *dependency; /* async/grid_dependency.h; NULL: it depends on none, or races are not looked for */
} machine_launch_t;

/* What barrier_bypass.c found out about two blocks of a program. */
#define MACHINE_BYPASSES 64
typedef struct machine_bypass {
   const machine_program_t *program;
   uint32_t left, barrier_block;
   bool went_round;
} machine_bypass_t;

typedef struct machine_run {
   rkb_machine_options_t options;
   const ptx_module_t *module;
   const rkb_plan_t *plan;
   /* by launch; launches of one kernel share; the module's, but while something is watched */
   const machine_program_t **programs;
   machine_region_t *regions;
   uint32_t region_count;
   uint64_t *variable_address; /* by module variable */
   uint32_t workspace;         /* the region that cooperative launches meet in; PTX_NONE: no kernel asks for it */
   uint8_t *local;             /* frame bytes * lanes * warps */
   uint8_t *local_defined;
   double *local_shadow;
   uint64_t local_taint;
   uint32_t isa;
   bool races, shadow, taint;
   uint64_t order; /* of blocks and warps: rkb_machine_set_order */
   uint64_t environment, first_place, window_base[WINDOW_PARAM + 1]; /* environment.h */
   /* Findings */
   rkb_machine_finding_t *findings;
   uint32_t finding_count;
   rkb_machine_finding_t *kept; /* undefined stores: findings only if they are still there at the end */
   uint32_t kept_count, kept_room;
   bool stop; /* something decisive was found: leave at the next instruction boundary */
   bool out_of_memory;
   /* Results */
   rkb_machine_report_t report;
   struct machine_map_fences *map_fences; /* of tensor maps in global memory: map_fences.h */
   struct machine_sectors *sectors; /* touched by the measured blocks of a launch: request_counts.c */
   rkb_launch_counters_t *counted;  /* by launch: options.counted; NULL where it is not asked for */
   bool counted_enough;             /* in the launch that runs */
   rkb_launch_counters_t measured;  /* memory requests of the blocks of a launch that are measured */
   uint64_t measured_blocks, measured_barriers, longest_warp, longest_loads; /* barriers: arrivals of warps */
   rkb_launch_counters_t *counters;                                          /* by launch */
   uint64_t budget;                                                          /* thread-instructions left */
   uint64_t executed;                                                        /* of this run */
   uint64_t
      burden; /* of this run: what costs more than its thread-instructions say, in their measure (machine.h) */
   uint64_t hang_limit; /* instructions of one warp */
   uint64_t *deciding;  /* by launch: what reached its control and addresses in runs with taint */
   bool *apart;         /* by launch: recording it was refused, so every set of buffers executes it */
   bool steering_known; /* a run with taint came to its end */
   struct machine_record *record; /* recording.h; NULL: not recorded */
   bool repeats; /* what was recorded is being repeated: values are moved, nothing is checked */
   struct machine_together *together; /* joint_sets.h; NULL: none so far */
   uint64_t memory;
   uint32_t place;   /* of the block that runs: its launch, then its number in the sample */
   uint64_t *stored; /* by launch: rkb_machine_stored */
   bool unfinished;  /* not all blocks of the launch that runs are executed: partial_launches.c */
   rkb_machine_extent_t *
      *extents; /* by launch, by place and buffer: what its blocks wrote; NULL where nothing is known */
   uint32_t *extent_places;                   /* by launch */
   struct machine_stored_bytes *block_stores; /* of the block that runs */
   struct machine_pattern *patterns;          /* by launch */
   uint32_t block_store_count, block_store_room;
   uint64_t next_serial;
   uint64_t
      overlap_first; /* blocks of launches above this may overlap with the next launch, if it is a dependent one */
   uint32_t idle;     /* rounds of blocks side by side since one of them changed something */
   bool side_by_side; /* the blocks of this launch: a warp that waits gives up its turn; resident_blocks.c */
   uint64_t
      changes; /* stores, atomic operations that changed something, barriers released, warps that ended */
   uint32_t record_shift;                 /* log2 of the granule that global race records were made for */
   uint64_t *block_warps, *block_threads; /* executions of each basic block of the program being run */
   struct machine_sync *sync;             /* synchronisation locations */
   struct machine_watch *watch;           /* store_watch.c; NULL: nothing is watched */
   struct machine_decisions *decisions;   /* decision_notes.c; NULL: they are not noted */
   machine_bypass_t bypasses[MACHINE_BYPASSES];
   machine_launch_t *launch; /* being executed */
   uint32_t runs;
   uint8_t *pool;                /* of the warps of a block: registers and the rest */
   size_t pool_bytes, pool_room; /* used and counted; there */
   machine_warp_t *warps;
   machine_block_t block;
   const machine_program_t *pool_program;
   uint32_t pool_warps, pool_warps_room;
} machine_run_t;

struct rkb_machine {
   machine_run_t run;
};

/* Memory that counts against the budget; zeroed.  NULL sets out_of_memory. */
void *machine_alloc(machine_run_t *run, size_t bytes);
void machine_release(machine_run_t *run, void *memory, size_t bytes);
/* Counts memory that is there already as asked bytes instead of kept; false when the budget has no room for it. */
bool machine_account(machine_run_t *run, size_t kept, size_t asked);

/* order.c: which of so many blocks or warps is the n-th in this run's order. */
uint64_t machine_in_order(const machine_run_t *run, uint64_t n, uint64_t total);
/* execute_warp.c: says that the kernel does not end, or that it waits for what cannot run here; stops the run. */
void machine_stop_hang(machine_warp_t *warp);
/* resident_blocks.c: executes all blocks of a launch side by side, as many at once as the target holds. */
void machine_residents_run(machine_launch_t *launch);
/* Notes what a warp polls. */
void machine_note_polled(machine_warp_t *warp, const uint64_t address[LANES], uint32_t mask, uint32_t bytes);
/* execute_block.c: the parts of a block's execution. */
void machine_block_start(machine_launch_t *launch, uint64_t linear);
/* Every warp that can gets a turn, barriers are released; true when the block ended or nothing more can be said of it. */
bool machine_block_turn(machine_block_t *block);
void machine_block_end(machine_block_t *block);

/* findings.c: adds a finding at the warp's current instruction.  lane PTX_NONE: of no single lane.  The returned one may be
 * completed by the caller; NULL when the same reason was reported at the same instruction before (it is counted). */
rkb_machine_finding_t *machine_find(machine_warp_t *warp, uint32_t standing, const char *reason,
                                    uint32_t lane, const char *fmt, ...)
   __attribute__((format(printf, 5, 6)));
/* Of no instruction. */
rkb_machine_finding_t *machine_find_launch(machine_run_t *run, uint32_t standing, const char *reason,
                                           const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Fills a finding's place, thread and registers without adding it. */
void machine_describe(const machine_warp_t *warp, uint32_t lane, rkb_machine_finding_t *finding);
void machine_thread_index(const machine_block_t *block, uint32_t thread, uint32_t out[3]);
/* Of the block of a thread whose cluster, or block where there are none, has this serial number. */
void machine_block_index(const machine_launch_t *launch, uint64_t serial, uint32_t thread, uint32_t out[3]);
/* Names a thread of the block as the other side of a finding, which may be NULL. */
void machine_find_other(rkb_machine_finding_t *finding, const machine_block_t *block, uint32_t thread);

/* The line of the source that an instruction comes from, or of the PTX. */
uint32_t machine_source_line(const machine_program_t *program, uint32_t pc);

/* regions.c: the workspace of cooperative launches, as a launch finds it; its address, 0 where no kernel asks for it */
void machine_workspace_renew(machine_run_t *run);
uint64_t machine_workspace_address(const machine_run_t *run);

/* memory.c */
machine_region_t *machine_region_at(machine_run_t *run, uint64_t address);
/* The address inside the machine of a generic one: WINDOW << 56 plus an offset where it lies in a window. */
static inline uint64_t machine_generic(const machine_run_t *run, uint64_t address) {
   for (uint64_t window = WINDOW_SHARED; window <= WINDOW_PARAM; window++)
      if (address - run->window_base[window] < 1ull << 32)
         return window << WINDOW_SHIFT | (address - run->window_base[window]);
   return address;
}
/* packed_inputs.c: makes places for a large input, whose data then holds the pieces that were met one after the other; false: no memory. */
bool machine_pack(machine_region_t *region);
void machine_pack_free(machine_region_t *region);
void machine_pack_piece(machine_region_t *region, uint64_t piece);
/* Where in data an offset lies, if its piece was met. */
static inline uint64_t machine_lies_at(const machine_region_t *region, uint64_t offset) {
   return region->places ? (uint64_t)region->places[offset >> PIECE_SHIFT] << PIECE_SHIFT |
                              (offset & ((1u << PIECE_SHIFT) - 1))
                         : offset;
}
/* Copies bytes that were met. */
void machine_read_bytes(const machine_region_t *region, uint64_t offset, uint64_t bytes, uint8_t *out);
/* Of a region with met: has the pieces of an input or of a sparse variable made that hold these bytes, and remembers those of others
 * that are written.  Without memory it stops the run. */
void machine_meet(machine_run_t *run, machine_region_t *region, uint64_t offset, uint64_t bytes, bool store);
uint8_t *machine_sparse(
   uint64_t bytes); /* zeros that cost nothing until they are written; NULL when there is no room */
/* Whether a piece of a region that is made on demand has been made. */
static inline bool machine_is_met(const machine_region_t *region, uint64_t piece) {
   return region->met[piece >> 3] >> (piece & 7) & 1;
}
/* The first piece from this one on that was met, or the number of pieces.  Of a region of gigabytes a sample of blocks meets few. */
static inline uint64_t machine_next_met(const machine_region_t *region, uint64_t piece) {
   const uint64_t end = (region->bytes + (1u << PIECE_SHIFT) - 1) >> PIECE_SHIFT;
   while (piece < end && !machine_is_met(region, piece)) {
      uint64_t group = 1;
      if (piece % 64 == 0 && piece + 64 <= end)
         memcpy(&group, region->met + piece / 8, sizeof group);
      piece += group ? 1 : 64;
   }
   return piece < end ? piece : end;
}
/* Marks the words of one piece as having no shadow. */
void machine_shadow_piece(machine_region_t *region, uint64_t piece);
void machine_undefined_address(machine_warp_t *warp, uint32_t lanes);
/* Remembers the first undefined store to a region, for a finding at the end if the bytes are still undefined. */
void machine_undefined_store(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                             uint32_t bytes);
/* An atomic operation on bytes that hold no value. */
void machine_uninitialised_atomic(machine_warp_t *warp, uint32_t lane, const uint64_t *offset,
                                  const machine_region_t *region, uint32_t bytes);
void machine_fault(machine_warp_t *warp, uint32_t lane, uint64_t address, uint32_t space, uint32_t bytes,
                   bool store);

/* fragments.c */
void machine_fragments_merge(machine_warp_t *warp);
/* The next fragment to run: deepest call first, then lowest rank.  PTX_NONE when all wait. */
uint32_t machine_fragment_pick(const machine_warp_t *warp, uint32_t other_than);
/* Whether any of these lanes has no value where one decides: a finding. */
bool machine_undefined_control(machine_warp_t *warp, uint32_t undefined, const char *what);
/* control_transfers.c: everything that is no plain operation.  True when the loop must choose a fragment anew. */
bool machine_transfer(machine_warp_t *warp, uint32_t fragment, const machine_instruction_t *i, uint32_t mask);

/* execute_warp.c: runs a warp until it waits, ends, or used its quantum. */
void machine_warp_run(machine_warp_t *warp);
/* request_counts.c */
/* Counts one request of a warp: sectors of 32 bytes, and bank conflicts of shared memory. */
void machine_count_request(machine_warp_t *warp, const uint64_t address[LANES], uint32_t mask, uint32_t bytes,
                           bool store);
void machine_counters_begin(machine_run_t *run);
void machine_counters_end(machine_run_t *run, rkb_launch_counters_t *counters, uint64_t executed);
void machine_counters_free(machine_run_t *run);
/* tensor_use.c: notes which matrix instructions of the launch that just ran were executed. */
void machine_note_tensor_use(machine_run_t *run, const machine_program_t *program);
/* dependency_chain.c: fills in the chain of the longest warp of the launch that just ran. */
void machine_count_chains(const machine_run_t *run, rkb_launch_counters_t *counters);
/* barriers.c */
void machine_barrier_arrived(machine_warp_t *warp, uint32_t barrier, uint32_t threads); /* bar.arrive */
bool machine_barriers_release(machine_block_t *block); /* true when some warp may go on */
void machine_barriers_stuck(machine_block_t *block);
/* barrier_bypass.c: threads that left without coming to the barrier whose threads have all come */
void machine_barrier_bypassed(machine_block_t *block, uint32_t rank, uint32_t barrier);
/* regions.c */
bool machine_lay_out(machine_run_t *run); /* false when there is no memory for it */
void machine_regions_free(machine_run_t *run);
bool machine_has_sparse(const machine_run_t *run); /* a variable that is sparse */
/* Makes the records of races; without memory it stops the run, makes none and gives false. */
bool machine_global_records(machine_run_t *run, machine_region_t *region);
/* Of a region's records, so many bytes of zeros; they are counted here, or where they are met.  NULL stops the run. */
void *machine_records(machine_run_t *run, const machine_region_t *region, uint64_t bytes);
void machine_drop_records(machine_run_t *run); /* of races */
/* Before a launch: gives the pages of large records back of buffers that it does not take.  What an earlier launch did cannot race
 * with a later one; where the same buffer is taken again, its pages would only be asked for again. */
void machine_forget_records(machine_run_t *run, const rkb_plan_launch_t *next);
bool machine_begin_buffers(machine_run_t *run, const rkb_machine_buffer_t *buffers);
bool machine_copy_constants(machine_run_t *run); /* the plan's; false after a finding */
/* Of what module variables hold; a number of 64 bits, by which two contents are told apart. */
uint64_t machine_variables_digest(const machine_run_t *run);
bool machine_variables_reached(const machine_run_t *run); /* by an input */
/* kept_values.c: what a run reads of module variables that an earlier one left there. */
bool machine_kept_begin(machine_run_t *run); /* before a run; false without memory */
void machine_kept_free(machine_region_t *region);
/* renews: with a value of its own, not one made of what was there. */
void machine_kept_write(machine_region_t *region, uint64_t offset, uint64_t bytes, bool renews);
bool machine_is_kept(const machine_region_t *region, uint64_t offset, uint64_t bytes);
void machine_kept_find(machine_run_t *run); /* after a block that changed values */
/* partial_launches.c: what launches leave of which not all blocks are executed. */
bool machine_partial_lay_out(machine_run_t *run); /* false without memory */
void machine_partial_free(machine_run_t *run);
void machine_partial_begin(machine_launch_t *launch, uint64_t count, bool whole);
void machine_partial_end(machine_launch_t *launch, bool whole);
/* After a block: forgets what it wrote and goes on with the next one if it needed what a block that was not executed writes. */
void machine_partial_block(machine_run_t *run);
/* Notes what a block writes, or reads that is not final. */
void machine_partial_store(machine_run_t *run, machine_region_t *region, uint64_t offset, uint64_t bytes);
void machine_partial_read(machine_region_t *region, uint64_t offset, uint64_t bytes);
/* execute_launch.c: executes a launch; true when it ran to its end. */
bool machine_launch_run(machine_run_t *run, uint32_t number);
/* execute_plan.c.  Before a run on these buffers: nothing found, nothing executed, memory as it is at the start; false when
 * there is none. */
bool machine_run_begin(machine_run_t *run, const rkb_machine_buffer_t *buffers);
/* joint_launch.c: executes a launch on every set of buffers; true when the first one's ran to its end. */
bool machine_launch_run_together(machine_run_t *run, uint32_t number);
/* joint_sets.c: a block was executed and recorded; the other sets follow. */
void machine_follow(machine_launch_t *launch, uint64_t linear);
void machine_together_free(machine_run_t *run);
/* execute_block.c */
void machine_launch_begin(machine_launch_t *launch); /* after the pool is prepared */
void machine_block_run(machine_launch_t *launch, uint64_t linear);
bool machine_pool_prepare(machine_run_t *run, const machine_program_t *program,
                          const machine_cluster_t *cluster);
void machine_pool_free(machine_run_t *run);

/* Without the instruction a population count is a call, and nearly all masks are full. */
static inline uint32_t lane_count(uint32_t mask) {
   return mask == FULL_MASK ? LANES : (uint32_t)__builtin_popcount(mask);
}

/* The warps of one block of the cluster. */
static inline machine_warp_t *machine_warps_of(const machine_block_t *block, uint32_t rank) {
   return block->warps + (size_t)rank * block->cluster.warps;
}

/* What a thread of block own finds above an address of shared memory of block rank, and the rank that is meant by that. */
static inline uint64_t machine_rank_bits(uint32_t rank, uint32_t own) {
   return (uint64_t)(rank || !own ? rank : FIRST_BLOCK) << CLUSTER_SHIFT;
}

static inline uint32_t machine_rank_meant(uint64_t address, uint32_t own) {
   const uint32_t bits = (uint32_t)address >> CLUSTER_SHIFT;
   return bits == 0 ? own : bits == FIRST_BLOCK ? 0 : bits;
}

/* Where bytes of shared memory lie that a warp names by an offset in its window; false: in no block of its cluster, or between variables. */
static inline bool machine_shared_place(const machine_warp_t *warp, uint64_t *offset, uint32_t bytes,
                                        uint32_t *rank) {
   const machine_cluster_t *cluster = &warp->block->cluster;
   uint64_t at = *offset;
   *rank = warp->rank;
   if (cluster->blocks > 1 && at >> CLUSTER_SHIFT) {
      *rank = machine_rank_meant(at, warp->rank);
      at &= (1u << CLUSTER_SHIFT) - 1;
   }
   if (*rank >= cluster->blocks || at > cluster->shared_bytes || cluster->shared_bytes - at < bytes ||
       machine_touches_gap(warp->program, at, bytes))
      return false;
   *offset = (uint64_t)*rank * cluster->shared_span + at;
   return true;
}

/* The number in its block of a byte of the cluster's shared memory: what messages say. */
static inline uint32_t machine_own_byte(const machine_block_t *block, uint32_t offset) {
   return offset % block->cluster.shared_span;
}

/* Lanes of a register. */
#define LANES_OF(type, offset) ((type *)__builtin_assume_aligned(warp->registers + (offset), 64))

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

/* Gives every lane of a register a shadow: where it has none, its f32.  lanes/shadow_float32.c, one an instruction set. */
void machine_shadow_take_portable(machine_warp_t *warp, uint32_t offset, uint32_t number);
void machine_shadow_take_v3(machine_warp_t *warp, uint32_t offset, uint32_t number);
static inline void machine_shadow_fill(machine_warp_t *warp, uint32_t offset, uint32_t number) {
   if (warp->valid[number] != FULL_MASK)
      (warp->run->isa ? machine_shadow_take_v3 : machine_shadow_take_portable)(warp, offset, number);
}

#endif
