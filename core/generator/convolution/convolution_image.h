/* What a convolution of floats by warpgroups reads: images as they lie in memory, and the weight in planes (split_weights.h).  Finds the tensor maps that
 * describe them, and the conditions under which the maps are right.  One thread. */
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
   uint32_t stored;       /* the node whose buffer has the images */
   uint32_t stored_right; /* for a weight's gradient: the node whose buffer has the other factor */
   bool backwards;        /* for an input's gradient: the first tap is the farthest from the pixel */
   /* For each side: how many pixels before the image the first tap of the first pixel lies. */
   const rkb_index_t *before[RKB_CONVOLUTION_SIDES];
   const rkb_index_t *channels; /* how many channels are summed */
   /* Coordinates of a phase, for a product in phases: the group of channels, which is always 0; then the present phase along each side. */
   const rkb_index_t *phase[1 + RKB_CONVOLUTION_SIDES];
   /* How many tiles there are: of the output's channels, along a row, down, and of the summed channels (for a weight's gradient: of the image's channels). */
   const rkb_index_t *blocks[4];
   const rkb_index_t *images; /* how many images */
} rkb_convolution_t;

/* Finds the conditions under which the kernel is right.  False: no case satisfies them, or the image is not a stored tensor whose last
 * dims are the pixels. */
bool rkb_convolution_conditions(rkb_graph_t *graph, rkb_arena_t *arena, const rkb_storage_t *storage,
                                const rkb_launch_t *launch, rkb_condition_t conditions[RKB_TENSOR_CONDITIONS],
                                uint32_t *count);
/* Describes a tiled launch.  False: its images have another layout in memory, or a window begins behind its pixel. */
bool rkb_convolution_open(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_convolution_t *tile);
/* How many pixels before an image's row a copy begins, at the row's start.  The number is a multiple of 4, because a copy must begin at 16 bytes. */
const rkb_index_t *rkb_convolution_copied_before(rkb_writer_t *writer, const rkb_convolution_t *tile);
/* Returns the text of an image's coordinate for a coordinate of the output, for the first tap without padding: "q_first * 2" with a stride of 2. */
const char *rkb_convolution_strided(rkb_writer_t *writer, const rkb_convolution_t *tile, const char *place);
/* Writes the text that releases the stage before the current one.  condition: "" or "row > begin && ". */
void rkb_convolution_write_free(rkb_writer_t *writer, const rkb_convolution_t *tile, const char *condition);
/* Each returns the name of a map's parameter, and adds the map to the manifest if it is new. */
const char *rkb_convolution_image_map(rkb_writer_t *writer, const rkb_convolution_t *tile);
/* Rows of pixels of the other factor of a weight's gradient. */
const char *rkb_convolution_row_map(rkb_writer_t *writer, const rkb_convolution_t *tile);
const char *rkb_convolution_weight_map(rkb_writer_t *writer, const rkb_convolution_t *tile);

#endif
