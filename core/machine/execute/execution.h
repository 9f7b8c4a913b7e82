/* The state of a run: memory, launch, block, warp.  One thread; machine_t owns all of it. */
#ifndef RKB_MACHINE_EXECUTE_EXECUTION_H
#define RKB_MACHINE_EXECUTE_EXECUTION_H

#include "machine/machine.h"
#include "machine/decode/decoded_program.h"

#include <string.h>

/* Addresses.  A buffer's base is (first + number) << 36 plus an odd multiple of its alignment.  So a shift
 * finds the buffer of an address, an index error of less than 64 GiB reaches no other buffer, and no base is
 * better aligned than was promised.  The environment (environment.h) decides where the first buffer and the
 * generic windows of shared, local and parameter memory lie.  Inside the machine an address in a window is
 * WINDOW << 56 plus an offset. */
#define REGION_SHIFT 36
#define WINDOW_SHIFT 56
#define WINDOW_SHARED 1ull
#define WINDOW_LOCAL 2ull
#define WINDOW_PARAM 3ull
#define MAX_REGIONS 4096

/* Values of a byte of `defined`: 0 never written, 1 defined, and these two.  UNDEFINED_STORE: a value that
 * was itself undefined was stored.  ATOMIC_UNFINISHED: blocks that are not executed would have changed the
 * byte by atomic operations (partial_launches.c). */
#define UNDEFINED_STORE 2
#define ATOMIC_UNFINISHED 3

typedef struct machine_region {
   const char *name;
   uint64_t base, bytes;
   uint8_t *data;
   uint8_t *defined; /* one byte for each byte of data; NULL: all are defined */
   /* For regions that are made on demand, a bit for each piece: set when an input's piece was made, or when
    * another region's piece was written. */
   uint8_t *met;
   /* For each 1 << MET_BY_SHIFT bytes, 1 + run->place of the block that first met some of them; NULL without
    * met. */
   uint32_t *met_by;
   /* For each piece that was met, the place where data has it, counted in pieces.  NULL: each piece lies at
    * its own place (packed_inputs.c). */
   uint32_t *places;
   uint64_t packed;  /* number of pieces that have a place */
   bool read_only;   /* a tensor of role in, or .const */
   bool fetched;     /* an input, whose pieces are made when they are first met */
   bool constant;    /* .const variable */
   bool sparse;      /* a large variable, whose zeros are mapped when they are first met */
   uint32_t buffer;  /* plan buffer, or UINT32_MAX for a module variable */
   uint64_t *writers, *readers; /* race records, one for each granule (races.c); NULL until needed */
   /* For each granule, the last launch that read it through the read-only path (read_only_path.c); NULL until
    * needed. */
   uint32_t *read_only_path;
   uint32_t read_only_launch; /* the last launch that read through it */
   double *shadow;            /* one for each 4 bytes; NULL until needed */
   uint64_t taint;            /* of all its bytes together */
   uint32_t undefined_store;  /* 1 + index of the finding kept for the first undefined store */
   bool written;              /* by the launch that runs */
   /* A bit for each word of 4 bytes; NULL where partial_launches.c is not used. */
   uint64_t *stored, *wanted; /* written by the launch that runs; read before the word was final */
   uint64_t *added;           /* changed by atomic operations of the launch that runs */
   bool any_stored;           /* whether any bit of stored is set */
   uint64_t *wanted_pieces;   /* a bit for each piece that has a word in wanted */
   /* A bit for each word of a variable that kernels may write (kept_values.c).  renewed: this run wrote a
    * value that does not depend on what was there.  touched: any run wrote it.  left: a run before this one
    * wrote it. */
   uint64_t *renewed, *touched, *left;
   /* Blocks that were not executed may have changed pieces that are made from now on. */
   bool stale;
} machine_region_t;

/* Bits of machine_run_t.place for a block's number in the sample.  A plan has at most 64 launches. */
#define PLACE_BITS 20
#define MOST_PLACES ((1u << PLACE_BITS) - 1)
/* log2 of a piece's bytes, in regions that are made on demand; most rows of a tile are as short */
#define PIECE_SHIFT 8
#define MET_BY_SHIFT 10 /* log2 of the bytes that share one record in met_by */

/* A shadow word with this NaN stands for no shadow: the f32 itself counts. */
#define NO_SHADOW 0x7ff4dead00000000ull

typedef struct machine_fragment { /* lanes of a warp that are at the same place */
   uint32_t pc, mask;
   uint32_t last;            /* the basic block entered last, without those that are merely passing */
   uint8_t depth;            /* of calls */
   bool waiting;             /* waits at a barrier */
   bool stalled;             /* waits at an mbarrier until a phase completes (async/mbarriers.h) */
   uint8_t barrier;          /* which barrier it waits at */
   uint32_t barrier_threads; /* threads that the phase expects; 0: all of the block */
   uint32_t returns[8];
} machine_fragment_t;

enum machine_warp_state { WARP_READY, WARP_WAITING, WARP_DONE };

#define COPY_WAIT 840u /* divisible by 1 to 8 */

typedef struct machine_warp {
   uint8_t *registers; /* program.file_bytes */
   uint32_t *defined;  /* by register number: lanes */
   uint64_t *taint;    /* by register number; NULL without taint */
   uint8_t *stale;     /* by register number; only while a block is recorded (recording.h) */
   double *shadow;     /* register offset * 2 bytes; NULL without shadow */
   uint32_t *valid;    /* by register number: the lanes whose shadow is valid */
   struct machine_block *block;
   struct machine_run *run;
   const machine_program_t *program;
   uint32_t number, first_thread; /* counted over all blocks of the cluster */
   uint32_t rank, place;          /* of its block in the cluster; its number in that block */
   uint32_t alive;                /* lanes not exited */
   /* For each lane that exited: its fragment's last basic block at that time. */
   uint32_t left[LANES];
   /* The condition code of add.cc and similar instructions, one bit for each lane. */
   uint32_t carry;
   uint32_t carry_defined;
   uint64_t carry_taint;
   uint32_t state;
   machine_fragment_t fragments[LANES];
   uint32_t fragment_count, current;
   uint32_t pc;   /* of the instruction being executed, for findings */
   uint64_t spin; /* instructions executed in this block */
   /* Number of executed basic blocks that have a global load.  Loads that can be in flight together count
    * once. */
   uint64_t loads;
   bool loads_open;
   bool copies_open; /* a cp.async began since the last wait */
   /* Waits for cp.async, in units of 1 / COPY_WAIT.  A wait that leaves n groups under way counts as a share
    * only, because the groups hide the rest of its time. */
   uint64_t copy_waits;
   /* Number of atomic, volatile and acquiring accesses, which are what a lane makes that waits for another
    * lane. */
   uint64_t strong;
   uint32_t fence_time[LANES], fence_barrier[LANES]; /* synchronisation.c */
} machine_warp_t;

typedef struct machine_barrier { /* a phase that is not complete: the arrivals by bar.arrive */
   uint32_t arrivals;            /* number of warps that arrived */
   uint32_t warps;               /* a bit for each warp that arrived */
   uint32_t expected;            /* threads */
} machine_barrier_t;

enum { RACES_NONE, RACES_FAST, RACES_CLOCKS };

/* The blocks of a cluster are executed as one.  A machine_block_t has the warps and the shared memories of
 * all of them, one after the other, in the order of their ranks.  Offsets of shared memory and numbers of
 * threads and warps count through all of them.  A launch without clusters has clusters of one block. */
#define MOST_CLUSTER 16u
/* In a launch with clusters, the bits of a shared address from bit 24 on hold the rank of the block whose
 * byte it names, as on an H200, also where that block is the thread's own: 0x1000400 in block 1 where block 0
 * has 0x400.  Zero there means the thread's own block, so that an instruction may name a variable.  When
 * another block names block 0, it writes FIRST_BLOCK instead. */
#define CLUSTER_SHIFT 24
#define FIRST_BLOCK MOST_CLUSTER
typedef struct machine_cluster {
   uint32_t dims[3], blocks;
   /* Of each block.  Whole warpgroups where the cluster has several blocks and the program has warpgroups. */
   uint32_t warps;
   uint32_t threads;      /* of each block, without the lanes that fill up its last warp */
   uint32_t shared_bytes; /* of each block */
   uint32_t shared_span;  /* from the first byte of one block to the first byte of the next */
} machine_cluster_t;

/* Global memory that the warps of a block read in a turn that changed nothing, and that another block may
 * change. */
#define MOST_POLLED 8
typedef struct machine_polled {
   uint64_t address[MOST_POLLED], value[MOST_POLLED];
   uint32_t count;
   bool more; /* there were more than fit here */
} machine_polled_t;

typedef struct machine_block {
   struct machine_run *run;
   struct machine_launch *launch;
   machine_cluster_t cluster;
   uint32_t index[3]; /* of the cluster's first block */
   uint64_t serial;   /* how many blocks the run executed before; race records name the block by it */
   uint32_t threads, warp_count; /* of all blocks of the cluster; in clusters threads counts whole warps */
   machine_warp_t *warps;
   uint8_t *shared, *shared_defined;
   uint32_t shared_bytes;
   /* Epoch, writer and reader, packed into a word (races.h). */
   uint32_t *shared_races;
   struct machine_shared_record *shared_records; /* where clocks are used */
   /* Of shared_records.  It grows with each block and with each barrier of the whole block, so that older
    * records no longer count. */
   uint32_t shared_epoch;
   /* [granule][readers, atomics][warp]: races.c; NULL until needed. */
   struct machine_spread *shared_spread;
   double *shared_shadow;
   uint64_t shared_taint;
   uint32_t races;              /* RACES_* */
   /* Completed barriers of the whole block, modulo the size of the packed field. */
   uint32_t epoch;
   uint32_t shared_shift;       /* log2 of the granule */
   bool measured;               /* whether the sectors and bank conflicts of its requests are counted */
   uint32_t time, barrier_time; /* grows at barriers and fences (block_time.c) */
   struct machine_clocks *clocks;
   struct machine_copies *copies;             /* asynchronous copies in flight; NULL: not followed */
   struct machine_copy_sources *copy_sources; /* async/copy_sources.h; NULL: not followed */
   /* Operations of the async proxy (async/operations.h); NULL: not followed. */
   struct machine_operations *operations;
   struct machine_mbarriers *mbarriers;     /* async/mbarriers.h; NULL: the program has none */
   struct machine_bulk_groups *bulk_groups; /* async/bulk_copies.h */
   struct machine_warpgroups *warpgroups;   /* async/warpgroups.h; NULL: the program has none */
   struct machine_cluster_barrier *cluster_barrier; /* async/cluster_barrier.h */
   struct machine_peers *peers;                  /* async/cluster_peers.h; NULL: one block, or not followed */
   machine_barrier_t barriers[MOST_CLUSTER][16]; /* by rank, by number */
   /* Only while blocks run side by side (resident_blocks.c). */
   machine_polled_t polled;
   struct machine_acquired *acquired;            /* synchronisation.c */
   uint32_t acquired_count, acquired_room;
   /* For each thread, the time of its last fence before the last barrier (synchronisation.c). */
   uint32_t *fenced;
   /* fenced_copy: the copy to which releases since that barrier refer, or PTX_NONE. */
   uint32_t fenced_room, fenced_copy;
   bool fenced_any;
} machine_block_t;

typedef struct machine_launch {
   struct machine_run *run;
   const machine_program_t *program;
   const rkb_plan_launch_t *plan;
   uint32_t number;
   uint8_t *parameters;
   uint8_t *parameter_defined;
   uint64_t *parameter_taint; /* one for each byte; 0 for bytes of no parameter */
   machine_cluster_t cluster;
   uint64_t first_serial;
   uint32_t global_shift;
   /* async/grid_dependency.h; NULL: the launch depends on no other launch, or races are not looked for. */
   struct machine_grid_dependency *dependency;
} machine_launch_t;

/* What barrier_bypass.c found out about two basic blocks of a program. */
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
   uint64_t environment, first_place, window_base[WINDOW_PARAM + 1]; /* environment.h */
   /* Findings */
   rkb_machine_finding_t *findings;
   uint32_t finding_count;
   /* Undefined stores, which become findings only if the bytes are still undefined at the end. */
   rkb_machine_finding_t *kept;
   uint32_t kept_count, kept_room;
   bool stop; /* something decisive was found; the run ends at the next instruction boundary */
   bool out_of_memory;
   /* Results */
   rkb_machine_report_t report;
   struct machine_map_fences *map_fences; /* fences of tensor maps in global memory (map_fences.h) */
   /* Sectors that the measured blocks of a launch touched (request_counts.c). */
   struct machine_sectors *sectors;
   /* By launch: counts of the blocks that options.counted names; NULL: none are named. */
   rkb_launch_counters_t *counted;
   bool counted_enough;             /* whether the launch that runs has executed those blocks */
   rkb_launch_counters_t measured;  /* memory requests of the blocks of a launch that are measured */
   /* measured_barriers counts arrivals of warps. */
   uint64_t measured_blocks, measured_barriers, longest_warp, longest_loads;
   rkb_launch_counters_t *counters;                                          /* by launch */
   uint64_t budget;                                                          /* thread-instructions left */
   uint64_t executed;                                                        /* of this run */
   /* Of this run: work that costs more than its thread-instructions say, expressed in thread-instructions
    * (machine.h). */
   uint64_t burden;
   uint64_t products;   /* of this run: multiply-adds of matrix instructions */
   uint64_t hang_limit; /* most instructions of one warp */
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
   uint32_t place;   /* the block that runs: its launch, then its number in the sample */
   uint64_t *stored; /* by launch: the buffers that it stored to (rkb_machine_stored) */
   bool unfinished;  /* some blocks of the launch that runs are not executed (partial_launches.c) */
   /* By launch, by place and buffer: what its blocks wrote; NULL where nothing is known. */
   rkb_machine_extent_t **extents;
   uint32_t *extent_places;                   /* by launch: how many places extents has */
   struct machine_stored_bytes *block_stores; /* what the block that runs has stored */
   struct machine_pattern *patterns;          /* by launch (partial_launches.c) */
   uint32_t block_store_count, block_store_room;
   uint64_t next_serial;
   /* Blocks with higher serial numbers may overlap with the next launch, if that one is a dependent
    * launch. */
   uint64_t overlap_first;
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
   /* How often warps, and threads, executed each basic block of the program that runs. */
   uint64_t *block_warps, *block_threads;
   struct machine_sync *sync;             /* synchronisation locations */
   struct machine_watch *watch;           /* store_watch.c; NULL: no buffer is watched */
   struct machine_decisions *decisions;   /* decision_notes.c; NULL: decisions are not noted */
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

/* Gives zeroed memory, which counts against the budget.  When there is none it sets out_of_memory and returns
 * NULL. */
void *machine_alloc(machine_run_t *run, size_t bytes);
void machine_release(machine_run_t *run, void *memory, size_t bytes);
/* Counts memory that exists already as asked bytes instead of kept bytes; false when the budget has no
 * room. */
bool machine_account(machine_run_t *run, size_t kept, size_t asked);

/* order.c: the number, of `total` blocks or warps, of the one that is n-th in this run's order. */
uint64_t machine_in_order(const machine_run_t *run, uint64_t n, uint64_t total);
/* execute_warp.c: reports that the kernel does not end, or that it waits for a block that cannot run beside
 * it here; stops the run. */
void machine_stop_hang(machine_warp_t *warp);
/* resident_blocks.c: executes all blocks of a launch side by side, at each time as many as the target
 * holds. */
void machine_residents_run(machine_launch_t *launch);
/* Notes the addresses that a warp polls. */
void machine_note_polled(machine_warp_t *warp, const uint64_t address[LANES], uint32_t mask, uint32_t bytes);
/* execute_block.c: the parts of a block's execution. */
void machine_block_start(machine_launch_t *launch, uint64_t linear);
/* Gives each warp that can run a turn and releases barriers; true when the block ended, or when nothing more
 * can be said of it. */
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

/* The source line that an instruction comes from; without one, its line in the PTX. */
uint32_t machine_source_line(const machine_program_t *program, uint32_t pc);

/* regions.c: gives the workspace of cooperative launches the contents that a launch finds; its address, 0
 * where no kernel asks for it. */
void machine_workspace_renew(machine_run_t *run);
uint64_t machine_workspace_address(const machine_run_t *run);

/* addresses.c */
machine_region_t *machine_region_at(machine_run_t *run, uint64_t address);
/* The machine's own form of a generic address: WINDOW << 56 plus an offset where the address lies in a
 * window. */
static inline uint64_t machine_generic(const machine_run_t *run, uint64_t address) {
   for (uint64_t window = WINDOW_SHARED; window <= WINDOW_PARAM; window++)
      if (address - run->window_base[window] < 1ull << 32)
         return window << WINDOW_SHIFT | (address - run->window_base[window]);
   return address;
}
/* packed_inputs.c: makes the list of places of a large input; its data then holds the pieces in the order in
 * which they were met.  False without memory. */
bool machine_pack(machine_region_t *region);
void machine_pack_free(machine_region_t *region);
void machine_pack_piece(machine_region_t *region, uint64_t piece);
/* Where data has the byte at an offset.  The offset's piece must have been met. */
static inline uint64_t machine_lies_at(const machine_region_t *region, uint64_t offset) {
   return region->places ? (uint64_t)region->places[offset >> PIECE_SHIFT] << PIECE_SHIFT |
                              (offset & ((1u << PIECE_SHIFT) - 1))
                         : offset;
}
/* Copies bytes.  Their pieces must have been met. */
void machine_read_bytes(const machine_region_t *region, uint64_t offset, uint64_t bytes, uint8_t *out);
/* Of a region with met: makes the pieces of an input or of a sparse variable that hold these bytes, and
 * remembers those of other regions that are written.  Without memory it stops the run. */
void machine_meet(machine_run_t *run, machine_region_t *region, uint64_t offset, uint64_t bytes, bool store);
/* Gives zeros that take no memory until they are written; NULL when there is no room. */
uint8_t *machine_sparse(uint64_t bytes);
/* Whether a piece of a region that is made on demand was met. */
static inline bool machine_is_met(const machine_region_t *region, uint64_t piece) {
   return region->met[piece >> 3] >> (piece & 7) & 1;
}
/* The first piece, from this one on, that was met; the number of pieces when there is none.  A sample of
 * blocks meets few pieces of a region of gigabytes. */
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
/* dependency_chain.c: fills in the dependency chain of the longest warp of the launch that just ran. */
void machine_count_chains(const machine_run_t *run, rkb_launch_counters_t *counters);
/* barriers.c */
void machine_barrier_arrived(machine_warp_t *warp, uint32_t barrier, uint32_t threads); /* bar.arrive */
bool machine_barriers_release(machine_block_t *block); /* true when some warp may go on */
void machine_barriers_stuck(machine_block_t *block);
/* barrier_bypass.c: reports threads that exited without coming to a barrier that is otherwise complete. */
void machine_barrier_bypassed(machine_block_t *block, uint32_t rank, uint32_t barrier);
/* regions.c */
bool machine_lay_out(machine_run_t *run); /* false when there is no memory for it */
void machine_regions_free(machine_run_t *run);
bool machine_has_sparse(const machine_run_t *run); /* whether any variable is sparse */
/* Makes a region's race records.  Without memory it makes none, stops the run and returns false. */
bool machine_global_records(machine_run_t *run, machine_region_t *region);
/* Zeros for a region's records.  They count against the budget here, or for a sparse region when its pages
 * are met.  NULL stops the run. */
void *machine_records(machine_run_t *run, const machine_region_t *region, uint64_t bytes);
void machine_drop_records(machine_run_t *run); /* drops all race records */
/* Before a launch: gives back the pages of large race records of buffers that the launch does not take.  What
 * an earlier launch did cannot race with a later launch.  Records of a buffer that the launch takes keep
 * their pages, because it would only ask for them again. */
void machine_forget_records(machine_run_t *run, const rkb_plan_launch_t *next);
bool machine_begin_buffers(machine_run_t *run, const rkb_machine_buffer_t *buffers);
bool machine_copy_constants(machine_run_t *run); /* copies the plan's constants; false after a finding */
/* A digest of 64 bits of what the module's variables hold. */
uint64_t machine_variables_digest(const machine_run_t *run);
bool machine_variables_reached(const machine_run_t *run); /* whether an input reached a variable */
/* kept_values.c: values that a run reads of module variables and that an earlier run left there. */
bool machine_kept_begin(machine_run_t *run); /* before a run; false without memory */
void machine_kept_free(machine_region_t *region);
/* Notes a write.  renews: the new value does not depend on the old one. */
void machine_kept_write(machine_region_t *region, uint64_t offset, uint64_t bytes, bool renews);
bool machine_is_kept(const machine_region_t *region, uint64_t offset, uint64_t bytes);
void machine_kept_find(machine_run_t *run); /* after a run that changed variables */
/* partial_launches.c: what a launch leaves when some of its blocks are not executed. */
bool machine_partial_lay_out(machine_run_t *run); /* false without memory */
void machine_partial_free(machine_run_t *run);
void machine_partial_begin(machine_launch_t *launch, uint64_t count, bool whole);
void machine_partial_end(machine_launch_t *launch, bool whole);
/* After a block: takes up what it stored.  If the block stopped because it needed a value that a block which
 * was not executed writes, forgets what it stored and lets the run go on with the next block. */
void machine_partial_block(machine_run_t *run);
/* Note that a block stored bytes, and which of the bytes it read are not final. */
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
/* execute_block.c */
void machine_launch_begin(machine_launch_t *launch); /* called after the pool is prepared */
void machine_block_run(machine_launch_t *launch, uint64_t linear);
bool machine_pool_prepare(machine_run_t *run, const machine_program_t *program,
                          const machine_cluster_t *cluster);
void machine_pool_free(machine_run_t *run);

/* A population count is a function call where the processor's instruction is not used, and nearly all masks
 * are full. */
static inline uint32_t lane_count(uint32_t mask) {
   return mask == FULL_MASK ? LANES : (uint32_t)__builtin_popcount(mask);
}

/* The warps of one block of the cluster. */
static inline machine_warp_t *machine_warps_of(const machine_block_t *block, uint32_t rank) {
   return block->warps + (size_t)rank * block->cluster.warps;
}

/* The bits above a shared address with which a thread of block own names a byte of block rank; and the rank
 * that such bits mean. */
static inline uint64_t machine_rank_bits(uint32_t rank, uint32_t own) {
   return (uint64_t)(rank || !own ? rank : FIRST_BLOCK) << CLUSTER_SHIFT;
}

static inline uint32_t machine_rank_meant(uint64_t address, uint32_t own) {
   const uint32_t bits = (uint32_t)address >> CLUSTER_SHIFT;
   return bits == 0 ? own : bits == FIRST_BLOCK ? 0 : bits;
}

/* Finds the bytes of shared memory that a warp names by an offset in its window.  False when they are in no
 * block of its cluster, or between variables. */
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

/* The number of a byte within its own block, which messages name; offset counts through the cluster's shared
 * memory. */
static inline uint32_t machine_own_byte(const machine_block_t *block, uint32_t offset) {
   return offset % block->cluster.shared_span;
}

/* The lanes of a register, as an array. */
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

/* Gives each lane of a register a shadow.  A lane without one gets its f32 value.  In lanes/shadow_float32.c,
 * one for each instruction set. */
void machine_shadow_take_portable(machine_warp_t *warp, uint32_t offset, uint32_t number);
void machine_shadow_take_v3(machine_warp_t *warp, uint32_t offset, uint32_t number);
static inline void machine_shadow_fill(machine_warp_t *warp, uint32_t offset, uint32_t number) {
   if (warp->valid[number] != FULL_MASK)
      (warp->run->isa ? machine_shadow_take_v3 : machine_shadow_take_portable)(warp, offset, number);
}

/* Multiply-adds of matrix instructions that a run has for their thread-instructions alone, about as many as blocks of fast kernels take; and how
 * many of the others are as much work as one thread-instruction (docs/decisions/work.md). */
#define MACHINE_FREE_PRODUCTS (UINT64_C(1) << 28)
#define MACHINE_PRODUCTS_OF_WORK 8u

static inline void machine_count_products(machine_run_t *run, uint64_t products) {
   run->products += products;
   if (run->products > MACHINE_FREE_PRODUCTS)
      run->burden += products / MACHINE_PRODUCTS_OF_WORK;
}

#endif
