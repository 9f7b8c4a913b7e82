/* What a convolution of floats by warpgroups reads: images as they lie in memory, and the weight in planes.
 * It finds their tensor maps, and the conditions under which these describe them.  One thread. */
#ifndef RKB_GENERATOR_CONVOLUTION_IMAGE_H
#define RKB_GENERATOR_CONVOLUTION_IMAGE_H

#include "generator/tile/convolution_extent.h"
#include "generator/text/product_index.h"
#include "generator/tile/tensor_tile.h"

/* A convolution as the kernel has it. */
typedef struct rkb_convolution {
   const rkb_launch_t *launch;
   const rkb_node_t *node;
   const int64_t *d;
   rkb_convolution_extent_t extent;
   rkb_product_t product;
   uint32_t stored,
      /* The nodes whose buffers have the images; for a weight's gradient, also that of the other factor. */
      stored_right;
   bool backwards; /* in the input's gradient the first tap is farthest from the pixel */
   const rkb_index_t
      *before[RKB_CONVOLUTION_SIDES]; /* how far before the image the first tap of the first pixel is */
   const rkb_index_t *channels;       /* how many channels are summed */
   const rkb_index_t
      *phase[1 +
             /* A group of channels, 0; for a product in phases, the present phase along each side. */
             RKB_CONVOLUTION_SIDES];
   const rkb_index_t *blocks[4], *images; /* tiles of channels, along a row, and down */
} rkb_convolution_t;

/* Finds the conditions under which the kernel is right.  False: no case satisfies them, or the image is not a stored tensor whose last
 * dims are the pixels. */
bool rkb_convolution_conditions(rkb_graph_t *graph, rkb_arena_t *arena, const rkb_storage_t *storage,
                                const rkb_launch_t *launch, rkb_condition_t conditions[RKB_TENSOR_CONDITIONS],
                                uint32_t *count);
/* Describes a tiled launch.  False: its images have another layout in memory, or a window begins behind its pixel. */
bool rkb_convolution_open(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_convolution_t *tile);
/* Where copies of a row begin.  This place is before the row's first pixel, because a copy must begin at a
 * multiple of a few pixels. */
const rkb_index_t *rkb_convolution_copied_before(rkb_writer_t *writer, const rkb_convolution_t *tile);
/* Where a place of the tile is in the images, without the part before them: "q_first * 2". */
const char *rkb_convolution_strided(rkb_writer_t *writer, const rkb_convolution_t *tile, const char *place);
/* Writes the text that gives back the stage before the current one.  condition: "" or "row > begin && ". */
void rkb_convolution_write_free(rkb_writer_t *writer, const rkb_convolution_t *tile, const char *condition);
/* The names of the maps' parameters. */
const char *rkb_convolution_image_map(rkb_writer_t *writer, const rkb_convolution_t *tile);
/* Rows of pixels of the other factor of a weight's gradient. */
const char *rkb_convolution_row_map(rkb_writer_t *writer, const rkb_convolution_t *tile);
const char *rkb_convolution_weight_map(rkb_writer_t *writer, const rkb_convolution_t *tile);

#endif
