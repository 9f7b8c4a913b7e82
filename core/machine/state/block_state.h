/* The state of what a launch executes: its blocks, in clusters, their warps, and the fragments of a warp that are at one place.  One thread; the
 * run owns it. */
#ifndef RKB_MACHINE_STATE_BLOCK_STATE_H
#define RKB_MACHINE_STATE_BLOCK_STATE_H

#include "machine/machine.h"
#include "machine/decode/decoded_program.h"

typedef struct machine_fragment { /* lanes of a warp that are at the same place */
   uint32_t pc, mask;
   uint32_t last;            /* the basic block entered last, without those that are merely passing */
   uint8_t depth;            /* of calls */
   bool waiting;             /* waits at a barrier */
   /* Lanes for which it waits, as far as they are elsewhere and alive (execute/named_lanes.h), and lanes that have exited instead of coming. */
   uint32_t named, lost;
   /* While lanes are apart (execute/interruptions.h): it runs when the others have stopped; it has stopped. */
   bool left_behind, stopped;
   bool stalled;             /* waits at an mbarrier until a phase completes (in_flight/mbarriers.h) */
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
   /* In a shuffled order: the number of the warp that has its turn when this one would have it in ascending order. */
   uint32_t turn;
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
   uint32_t
      lost; /* of the fragment that runs: lanes for which it waited at its first instruction, and which have exited instead */
   bool parted; /* lanes parted, met again, and have not taken part in an operation all together since */
   bool apart;         /* a fragment is left behind, or may have stopped */
   uint32_t impatient; /* how often the lanes that run have run for long since others were left behind or stopped */
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
   /* Number of atomic, volatile and acquiring accesses.  A lane that waits for another lane makes such accesses. */
   uint64_t strong;
   uint32_t fence_time[LANES], fence_barrier[LANES], fence_known[LANES]; /* synchronisation.c */
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
/* In a launch with clusters, the bits of a shared address from bit 24 on hold the rank of the block whose byte it names, as on an H200.  This
 * holds for the thread's own block too: 0x1000400 in block 1 where block 0 has 0x400.  Zero there means the thread's own block, so that an
 * instruction may name a variable.  When another block names block 0, it writes FIRST_BLOCK instead. */
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
   uint32_t races; /* RACES_* */
   /* Completed barriers of the whole block, modulo the size of the packed field. */
   uint32_t epoch;
   uint32_t shared_shift;       /* log2 of the granule */
   bool measured;               /* whether the sectors and bank conflicts of its requests are counted */
   uint32_t time, barrier_time; /* grows at barriers and fences (block_time.c) */
   struct machine_clocks *clocks;
   struct machine_signals *signals;           /* clocks/shared_signals.h; NULL: not followed */
   struct machine_copies *copies;             /* asynchronous copies in flight; NULL: not followed */
   struct machine_copy_sources *copy_sources; /* in_flight/copy_sources.h; NULL: not followed */
   /* Operations of the async proxy (in_flight/operations.h); NULL: not followed. */
   struct machine_operations *operations;
   bool overtakes; /* fragments may go on before those of their warp that are stalled at an mbarrier */
   struct machine_mbarriers *mbarriers;             /* in_flight/mbarriers.h; NULL: the program has none */
   struct machine_bulk_groups *bulk_groups;         /* async/bulk_copies.h */
   struct machine_warpgroups *warpgroups;           /* async/warpgroups.h; NULL: the program has none */
   struct machine_cluster_barrier *cluster_barrier; /* in_flight/cluster_barrier.h */
   struct machine_peers *peers; /* in_flight/cluster_peers.h; NULL: one block, or not followed */
   machine_barrier_t barriers[MOST_CLUSTER][16]; /* by rank, by number */
   /* Only while blocks run side by side (resident_blocks.c). */
   machine_polled_t polled;
   struct machine_acquired *acquired; /* synchronisation.c */
   uint32_t acquired_count, acquired_room;
   /* For each thread, the time of its last fence before the last barrier (synchronisation.c). */
   uint32_t *fenced;
   /* fenced_copy: the copy to which releases since that barrier refer, or PTX_NONE. */
   uint32_t fenced_room, fenced_copy;
   bool fenced_any;
   uint32_t proxy_fenced; /* the time of the block's last fence of the async proxy; 0: none */
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
   /* in_flight/grid_dependency.h; NULL: the launch depends on no other launch, or races are not looked for. */
   struct machine_grid_dependency *dependency;
} machine_launch_t;

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

#endif
