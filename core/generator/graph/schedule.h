/* A schedule: which nodes share a launch, and how each launch maps to blocks and threads.  It is data: the `schedule:` block of a
 * kernel's manifest holds all of it, and the kernel's text is a function of the task and the schedule. */
#ifndef RKB_GENERATOR_SCHEDULE_H
#define RKB_GENERATOR_SCHEDULE_H

#include "generator/graph/graph.h"

#define RKB_SCHEDULE_VERSION 4
#define RKB_MAX_SCHEDULE_LAUNCHES 640u
#define RKB_MAX_LAUNCH_NODES 24u
/* Most elements that a thread keeps in registers, of each tensor from which its row is read. */
#define RKB_MOST_KEPT 32
/* Most threads of all blocks of a cluster; each thread costs the checking machine memory and time. */
#define RKB_MOST_CLUSTER_THREADS 1024
/* Most warps of a cluster, where RKB_WARPS says how many a block has. */
#define RKB_MOST_CLUSTER_WARPS 63

enum rkb_mapping {
   RKB_MAP_ELEMENT = 1, /* a thread computes one element, or one vector of elements */
   RKB_MAP_ROW,         /* a block or a warp reduces a row; lanes run along the reduced dims */
   RKB_MAP_COLUMN,      /* a block reduces 32 columns; lanes run along the kept dims */
   RKB_MAP_TILE,        /* a block computes a tile of a product from tiles of its factors in shared memory */
   RKB_MAP_SCAN,        /* a block, or a thread, goes along a line of running sums */
   RKB_MAP_ONLINE, /* a block goes over a matrix of scores that is not stored, with running statistics of its rows */
   RKB_MAP_RANK,   /* a block, or a warp, finds the largest elements of a row, one after the other */
   RKB_MAP_LINK,   /* elements that are scattered to one place are linked, then added along the links */
   RKB_MAP_TENSOR, /* as TILE, but by tensor cores: a warp multiplies fragments */
   RKB_MAP_ONLINE_TENSOR, /* as ONLINE, but by tensor cores */
   RKB_MAP_STEPS,         /* a block goes through the steps of a sequence of a recurrent layer */
   RKB_MAPPINGS
};

/* One decision of a launch.  Every mapping has some of them; docs/decisions/schedules.md says what each means. */
enum rkb_decision {
   RKB_THREADS, /* threads of a block; ROW with RKB_ROWS 1: threads that share a row */
   RKB_VECTOR,  /* elements of one access */
   /* ROW: rows of a block, one for each warp; 1: one row for the whole block.  RANK: the same for short
    * rows. */
   RKB_ROWS,
   RKB_SPLIT,  /* parts of a reduction, each in a block of its own, added by a second launch in fixed order */
   RKB_TILE_M, /* TILE, TENSOR: rows of a block's tile (along the output's slower dim) */
   RKB_TILE_N, /* TILE, TENSOR: columns of the tile */
   RKB_TILE_K, /* TILE, TENSOR: terms that are copied at a time */
   RKB_THREAD_M, /* elements of a thread's own tile */
   RKB_THREAD_N,
   RKB_PREFETCH, /* TILE: 1: the next terms are loaded while the current terms are multiplied */
   RKB_KEEP, /* ROW: loads of a row that a thread keeps in registers for later passes, in vectors; 0: loads again.
              * ONLINE_TENSOR: not 0: fragments of the own rows stay in registers.
              * RANK: how many of the first elements, in order, of its part of a row a thread keeps; 0: it looks through the row in each turn */
   RKB_BLOCKS, /* TILE, TENSOR: blocks that a multiprocessor should hold at once; 0: not asked for */
   RKB_TENSOR, /* TENSOR: what the tensor cores multiply: enum rkb_tensor_path of fragments.h */
   RKB_WARP_M, /* TENSOR: a warp's own tile */
   RKB_WARP_N,
   RKB_COPY, /* TENSOR: how factors come to shared memory: enum rkb_copy */
   /* TENSOR: tiles of the factors in shared memory; with n of them, n - 1 are in flight while one is
    * multiplied.  ROW with stretches and prefetch: rows in shared memory, in the same way; 1: the next row is
    * in registers. */
   RKB_STAGES,
   RKB_ORDER, /* TENSOR: rows of blocks that follow each other column by column; 0: all */
   /* TENSOR with RKB_COPY_TENSOR: warpgroups that multiply, each some rows of the tile; one more warpgroup
    * copies. */
   RKB_GROUPS,
   /* The same: 1: as many blocks as can run at once, each of which computes several tiles in turn; 0: a block
    * for each tile. */
   RKB_PERSISTENT,
   /* TENSOR: 1: the terms copied at a time are channels of one tap of a convolution's window; 0: in the
    * weight's order. */
   RKB_TAPS,
   /* ELEMENT: equal parts of the last dim.  A thread owns the same place in each of them, and these places
    * share what they load. */
   RKB_PLACES,
   RKB_WINDOW, /* ELEMENT, of a largest pool whose windows lie side by side, or its gradient: 1: a thread owns a window's places,
                * or those of neighbouring windows whose rows are one vector */
   RKB_MOMENTS,   /* ROW: 1: a mean and the sum of squares around it are found in one pass */
   RKB_STRETCHES, /* ROW: blocks that own stretches of rows and sum each place over their rows; a second launch adds these sums; 0: a block a row */
   RKB_SEGMENTS, /* ROW: 1: the launch also finds sums over rows, one for each of the equal pieces of a row; a second launch adds the rows' parts */
   RKB_CHANNELS, /* ELEMENT with windows over a convolution in registers: channels of a thread, which share the pixels */
   RKB_SHORTER, /* ROW with kept rows: the factor by which short rows, which fewer threads can keep, get fewer threads; 1: the same threads for all */
   /* TILE, TENSOR: the limit, in units of 1,024 multiply-adds, up to which one warp computes each element of a
    * product; 0: tiles always compute the product. */
   RKB_SMALL,
   /* ELEMENT, ROW, COLUMN, TILE, TENSOR: 1: the launch shares a kernel with the launch before it, each with a
    * range of its blocks. */
   RKB_BESIDE,
   RKB_HELD, /* TENSOR with RKB_COPY_TENSOR, where each float is a sum of two numbers: 1: warpgroups split their own rows in registers; 0: both
              * factors are split in shared memory */
   RKB_STRIP, /* ELEMENT, of a convolution of channels by themselves, which come last: neighbouring pixels that a thread owns of one channel;
               * 0: one element.  TENSOR, of a convolution by warpgroups: pixels of a row of the block's tile; 0: 32 */
   RKB_LISTED, /* TENSOR, of rows that each pick a matrix (rows_by_matrix.h): 1: rows are first listed by matrix, and rows of one matrix share
                * tiles; 0: a tile for each row.  Of sums over such rows: 1: a matrix has the terms of its own list; 0: it has all terms, and
                * most are zero */
   RKB_CLUSTER, /* ROW: blocks of a cluster that share a row through each other's shared memory.  A thread also keeps there what does not fit into
                 * its registers.  1: a block has a row alone */
   RKB_OTHER_M, /* TENSOR with RKB_COPY_TENSOR: rows of a second tile, for cases that it suits better (second_tile.h); 0: there is none */
   RKB_OTHER_N, /* its columns; 0: as many as the first one's */
   RKB_OTHER_SPLIT, /* the parts of its sums */
   RKB_PHASES, /* TENSOR with RKB_COPY_TENSOR, of the input gradient of a convolution with a stride: 1: places of one phase are a product of
                * their own (product_index.h); 0: all places are one product, in which some terms are zero */
   /* All mappings: 1: its kernels may begin before the kernels in front of them have ended, and then wait for
    * them (programmatic dependent launch).  The first launch has no kernel in front of it. */
   RKB_DEPENDENT,
   RKB_WARPS, /* ROW with a cluster that keeps its row: warps of a block, which divide the kept part of the row; 0: as many as its threads make */
   RKB_SHARE_LAST, /* ONLINE_TENSOR by warpgroups, with several kinds of scores: 1: the share is made when all scores have come; 0: it is made
                    * of the first scores, while tensor cores compute the others */
   RKB_NARROW, /* TENSOR with RKB_COPY_TENSOR, of sums that are stored in a narrow type as they are: 1: they are rounded before they go to shared
                * memory, where they become rows; 0: after it */
   RKB_PARTS, /* ELEMENT, of a product: threads of a block that share the sum of an element; 1: one thread adds all terms */
   RKB_LINES, /* ELEMENT without sums: neighbouring rows of which a thread owns the same vector.  It loads all of them before it stores one */
   RKB_SHARED_LAYOUT, /* TENSOR without tensor maps: how rows of a factor's tile lie in shared memory: enum rkb_shared_layout */
   RKB_PAD_ROWS, /* TENSOR with RKB_COPY_TENSOR, of matrices: 1: where rows of a factor do not begin at multiples of 16 bytes, a launch
                  * copies it to rows that do (padded_rows.h); 0: these cases load single elements */
   RKB_DECISIONS
};

enum rkb_shared_layout {
   RKB_LAYOUT_SWIZZLED, /* chunks of 16 bytes trade places, by the row */
   RKB_LAYOUT_PADDED,   /* 16 bytes more in each row */
   RKB_LAYOUT_PLAIN     /* rows follow each other */
};

enum rkb_copy {
   RKB_COPY_PLAIN, /* through registers */
   RKB_COPY_ASYNC, /* cp.async, where a factor's elements are copied as they are and come in 4, 8 or 16 bytes; else plain */
   RKB_COPY_TENSOR /* tensor maps, for products of warpgroups; cp.async where the strides are no multiples of 16 bytes (of scores: refused) */
};

typedef struct rkb_launch {
   enum rkb_mapping mapping;
   uint32_t anchors[RKB_MAX_LAUNCH_NODES], anchor_count; /* the heavy nodes that this launch computes */
   uint32_t roots[RKB_MAX_LAUNCH_NODES], root_count;     /* the nodes that it writes to memory */
   int64_t decisions[RKB_DECISIONS];
} rkb_launch_t;

typedef struct rkb_schedule {
   rkb_launch_t launches[RKB_MAX_SCHEDULE_LAUNCHES];
   uint32_t count;
} rkb_schedule_t;

#endif
