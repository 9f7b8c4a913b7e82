/* The tile of a convolution of floats by warpgroups, and what it needs: pixels, shared memory, registers.
 * Pure functions. */
#ifndef RKB_GENERATOR_CONVOLUTION_EXTENT_H
#define RKB_GENERATOR_CONVOLUTION_EXTENT_H

#include "generator/graph/schedule.h"

#define RKB_CONVOLUTION_RANK 4
#define RKB_CONVOLUTION_SIDES 2u /* of an image: down, and along a row */
#define RKB_CONVOLUTION_HEAD                                                                                 \
   2 /* the index from which a convolution's integers belong to single sides: stride, padding and dilation of each */
#define RKB_CONVOLUTION_GROUP_THREADS 128
#define RKB_CONVOLUTION_WARP_PIXELS 16
#define RKB_CONVOLUTION_GROUP_PIXELS 64    /* of one wgmma */
#define RKB_CONVOLUTION_PATTERN_BYTES 1024 /* eight rows of the swizzle; tiles begin at multiples of it */
#define RKB_CONVOLUTION_ROW_BYTES 128      /* of the swizzle */
#define RKB_CONVOLUTION_TERMS 32           /* floats in such a row */
#define RKB_CONVOLUTION_STEP_TERMS 8       /* of one wgmma */
#define RKB_CONVOLUTION_HELD_STEPS                                                                           \
   2 /* steps whose fragments lie in registers: one is multiplied while the next is split */
#define RKB_CONVOLUTION_IMAGES                                                                               \
   2 /* parts of an image in shared memory: one comes while another is multiplied */
#define RKB_CONVOLUTION_ALIGNED 4 /* a copy begins at a multiple of this many pixels of a row: 16 bytes */
#define RKB_CONVOLUTION_GROUP_CHANNELS 64 /* of an image, of one wgmma of the weight's gradient */

#define RKB_CONVOLUTION_ROOM_ROWS                                                                            \
   16 /* channels of the gradient whose sums lie in shared memory on their way out */

enum { RKB_CONVOLUTION_DOWN, RKB_CONVOLUTION_ALONG };

/* The sizes of a tile, and of the part of an image that it sees, in pixels. */
typedef struct rkb_convolution_extent {
   int64_t row, rows; /* of the tile */
   bool
      /* Whether it is the tile of a weight's gradient: of channels, and of one row of pixels at a time. */
      of_weight;
   int64_t groups;   /* warpgroups that multiply; of_weight: one for each row of the window */
   int64_t squares;  /* squares of 16 pixels of a warp; of_weight: taps of a row of the window */
   int64_t channels; /* channels of a part that come at a time */
   int64_t window[RKB_CONVOLUTION_SIDES], dilation[RKB_CONVOLUTION_SIDES], taps;
   int64_t stride; /* of both sides */
   bool
      /* Whether it is an input's gradient with a stride: a tile owns pixels that are a stride apart and the
       * pixels between them, phase by phase. */
      in_phases;
   int64_t width, height; /* of the part */
} rkb_convolution_extent_t;

/* Whether the launch's decisions ask for a kernel with this tile, and the launch computes a convolution or a gradient
 * that may have this kernel. */
bool rkb_convolution_is_tiled(const rkb_graph_t *graph, const rkb_launch_t *launch);
/* NULL, or why the tile cannot be computed on a device with this much shared memory for a block; for tiled launches. */
const char *rkb_convolution_refused(const rkb_graph_t *graph, const rkb_launch_t *launch,
                                    int64_t shared_bytes);
rkb_convolution_extent_t rkb_convolution_extent(const rkb_graph_t *graph, const rkb_launch_t *launch);

/* Returns the stride that the kernel is for: that of the bench cases, where all have the same; else 1. */
int64_t rkb_convolution_stride(const rkb_graph_t *graph, const rkb_node_t *node);

/* How far apart the neighbours of a tile are in the part of the image: the stride; but places of one phase are neighbours there too. */
int64_t rkb_convolution_apart(const rkb_convolution_extent_t *e);

/* Bytes of a part's channels of one stage, of one half of a tap's weight, and of all shared memory of a block. */
int64_t rkb_convolution_part_bytes(const rkb_convolution_extent_t *e);
int64_t rkb_convolution_plane_bytes(const int64_t *d);
int64_t rkb_convolution_shared_bytes(const rkb_convolution_extent_t *e, const int64_t *d);
/* Floats from one row to the next in the shared memory for sums of a weight's gradient. */
int64_t rkb_convolution_room_pitch(const rkb_convolution_extent_t *e);
/* Registers of a thread: of a copying thread; of each thread where all have equally many; and of a multiplying
 * thread after the copying threads gave some back. */
int64_t rkb_convolution_producer_registers(const rkb_convolution_extent_t *e);
int64_t rkb_convolution_equal_registers(const rkb_convolution_extent_t *e, const int64_t *d);
int64_t rkb_convolution_registers(const rkb_convolution_extent_t *e, const int64_t *d);

#endif
