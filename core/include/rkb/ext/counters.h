/* rkb/ext/counters.h - what the checking machine counted while it executed a plan, for speed models.
 *
 * Handed on with note_set / note_get of <rkb/ext/kernel.h> under RKB_NOTE_COUNTERS: one rkb_counters_t, then
 * launch_count rkb_launch_counters_t, contiguous, no pointers.  At bench shapes a sample of the blocks is executed;
 * every count is of the executed blocks, and a model scales it by blocks / executed.
 */
#ifndef RKB_EXT_COUNTERS_H
#define RKB_EXT_COUNTERS_H

#include <rkb/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_NOTE_COUNTERS "machine.counters/2"
#define RKB_MAX_COUNTED_LINES 8

/* Classes of instructions, by the unit that executes them. */
enum rkb_instruction_class {
   RKB_CLASS_INTEGER,    /* add, logic, compare, select, move */
   RKB_CLASS_MULTIPLY,   /* integer multiply and multiply-add */
   RKB_CLASS_F32,        /* add, multiply, fused multiply-add, min, max, compare */
   RKB_CLASS_F64,
   RKB_CLASS_F16,        /* half and bfloat16, packed counted once */
   RKB_CLASS_SPECIAL,    /* approximate functions: rcp, rsqrt, sqrt, ex2, lg2, sin, cos, tanh */
   RKB_CLASS_CONVERT,
   RKB_CLASS_GLOBAL,     /* loads and stores */
   RKB_CLASS_SHARED,
   RKB_CLASS_LOCAL,
   RKB_CLASS_ATOMIC,
   RKB_CLASS_SHUFFLE,    /* shuffles, votes, matches, warp reductions */
   RKB_CLASS_BARRIER,
   RKB_CLASS_CONTROL,    /* branches, calls, returns */
   RKB_CLASS_OTHER,
   RKB_CLASS_TENSOR,     /* products of matrices by a warp */
   RKB_CLASS_COUNT
};

/* What tensor cores multiply. */
enum rkb_tensor_type {
   RKB_TENSOR_F16,
   RKB_TENSOR_BF16,
   RKB_TENSOR_TF32,
   RKB_TENSOR_F8,        /* e4m3 and e5m2 */
   RKB_TENSOR_F64,
   RKB_TENSOR_INT8,
   RKB_TENSOR_INT4,
   RKB_TENSOR_BIT,
   RKB_TENSOR_TYPE_COUNT
};

/* Global accesses of one source line. */
typedef struct rkb_line_counters {
   uint32_t line;        /* in the .cu; 0: unused slot */
   uint32_t is_store;
   uint64_t requests;    /* by warps */
   uint64_t sectors;     /* 32-byte sectors those touched */
   uint64_t least;       /* sectors the bytes asked for would fill if they were side by side */
} rkb_line_counters_t;

/* How the lanes of a warp lie to each other in a request that touches more sectors than its bytes would fill. */
enum rkb_access_shape {
   RKB_ACCESS_MIXED,     /* no shape accounts for half of the waste, or nothing is wasted */
   RKB_ACCESS_STRIDED,   /* lanes at a common distance of more than their width */
   RKB_ACCESS_ROWS,      /* side by side, in rows that end before the warp does */
   RKB_ACCESS_UNALIGNED, /* side by side from inside a sector on */
   RKB_ACCESS_SHORT,     /* side by side from a sector's start, ending inside one */
   RKB_ACCESS_ONE,       /* all lanes at one address, or one lane alone */
   RKB_ACCESS_SCATTERED  /* at no common distance */
};

typedef struct rkb_line_access {
   uint32_t shape;       /* enum rkb_access_shape */
   uint32_t bytes;       /* of one lane's access; 0 when mixed */
   int64_t stride;       /* bytes from lane to lane when strided, else 0 */
} rkb_line_access_t;

/* Loads of a sector that the block has asked for before, by how many sectors it asked for in between (near repetitions left out): reused_sectors[i] counts those of
 * 2^(RKB_REUSE_LEAST + i) to twice as many; the first has the nearer ones too, the last the farther ones. */
#define RKB_REUSE_LEAST 8
#define RKB_REUSE_RANGES 16

typedef struct rkb_launch_counters {
   uint32_t case_index;  /* index among the bench cases */
   uint32_t launch;      /* index into the plan's launches */
   uint32_t kernel;      /* index into the build's kernels */
   uint32_t threads;     /* a block */
   uint64_t blocks;      /* of the grid */
   uint64_t executed;    /* blocks of it that were executed */
   uint64_t thread_instructions[RKB_CLASS_COUNT];
   uint64_t warp_instructions[RKB_CLASS_COUNT]; /* issued: one a warp whatever lanes are active */
   uint64_t load_requests, load_sectors, load_least;    /* global loads */
   uint64_t store_requests, store_sectors, store_least; /* global stores */
   uint64_t distinct_load_sectors, distinct_store_sectors; /* accessed at least once by any of the executed blocks */
   uint64_t shared_requests, shared_wavefronts;         /* wavefronts = requests when there is no bank conflict */
   uint64_t atomic_requests, atomic_serial;             /* serial: sum over requests of the most lanes on one address */
   uint64_t barriers;          /* by blocks */
   uint64_t longest_warp;      /* most warp instructions issued by one warp of one block */
   uint64_t longest_loads;     /* most dependent-looking global load requests by one warp (a load whose address or
                                  guard uses a value loaded since the last barrier counts; else loads issued together count once).  Copies by cp.async count where
                                  they are waited for: 1 / (n + 1) where n groups stay under way */
   rkb_line_counters_t lines[RKB_MAX_COUNTED_LINES]; /* the most wasteful global lines, by sectors - least */
   rkb_line_access_t accesses[RKB_MAX_COUNTED_LINES]; /* the shape that wasted most of lines[] of the same index */
   uint64_t chain_instructions; /* of longest_warp: those that wait for one another, through registers, block after block of
                                   straight code; loads of global memory among them.  0: not counted */
   uint64_t chain_shared;       /* the loads of shared memory and shuffles of that chain, which are not in chain_instructions */
   uint64_t tensor_products[RKB_TENSOR_TYPE_COUNT]; /* multiply-adds of matrix instructions, by type */
   uint64_t warpgroup_products[RKB_TENSOR_TYPE_COUNT]; /* those of them that warpgroups make (wgmma) */
   uint64_t chain_tensor;       /* the matrix instructions of the longest chain, which are not in chain_instructions */
   uint64_t bulk_sectors;       /* of load_sectors, those that bulk and tensor copies read: no load waits for them */
   uint64_t bulk_phases;        /* phases of mbarriers that such copies completed bytes in: steps of a pipeline */
   uint64_t bulk_barriers;      /* mbarriers that had such phases: of a block about as many as its pipeline has stages */
   uint64_t reused_sectors[RKB_REUSE_RANGES];
   uint64_t cluster_waits;   /* at the cluster's barrier, by blocks */
   uint64_t remote_accesses; /* of shared memory of another block of the cluster, by lanes */
} rkb_launch_counters_t;

typedef struct rkb_counters {
   uint32_t size;         /* of this head */
   uint32_t launch_size;  /* of one rkb_launch_counters_t: the stride */
   uint32_t launch_count;
   uint32_t case_count;   /* bench cases counted; less than the task's when the budget ran out */
} rkb_counters_t;

#ifdef __cplusplus
}
#endif
#endif
