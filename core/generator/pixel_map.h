/* A factor of a convolution as a tensor map of pixels (im2col) describes it, where channels come last in memory: a copy brings so many
 * channels of so many neighbouring pixels, as one tap of the window sees them.  One thread. */
#ifndef RKB_GENERATOR_PIXEL_MAP_H
#define RKB_GENERATOR_PIXEL_MAP_H

#include "generator/staging.h"

#define RKB_PIXEL_DIMS 2u /* along a row of pixels, and down */

typedef struct rkb_pixel_map {
   uint32_t stored; /* the node whose buffer it is */
   const rkb_index_t *channels, *size[RKB_PIXEL_DIMS], *images;
   const rkb_index_t *positions[RKB_PIXEL_DIMS]; /* how many pixels the window is laid on, along each dim */
   const rkb_index_t *window[RKB_PIXEL_DIMS], *step[RKB_PIXEL_DIMS], *dilation[RKB_PIXEL_DIMS];
   const rkb_index_t *before[RKB_PIXEL_DIMS],
      *behind
         [RKB_PIXEL_DIMS]; /* how far the box of pixels that copies go along begins before the first one, and ends before the last one */
   bool backwards; /* of the input's gradient: the first tap lies farthest */
   const rkb_index_t *first_shift[RKB_PIXEL_DIMS]; /* in phases: that of the first phase; NULL: there are none */
} rkb_pixel_map_t;

/* Whether a side of the product has pixels in it. */
bool rkb_side_is_of_pixels(const rkb_writer_t *writer, const rkb_product_tile_t *tile,
                           const rkb_tile_side_t *side);
/* Whether a launch is of the input gradient of a convolution that has another stride than 1 in some case, and pixels that maps describe. */
bool rkb_launch_has_phases(const rkb_graph_t *graph, const rkb_launch_t *launch);
/* Fills the strides of its cases, but for 1; returns how many. */
#define RKB_MOST_STRIDES 4u
uint32_t rkb_launch_strides(const rkb_graph_t *graph, const rkb_launch_t *launch, int64_t strides[RKB_MOST_STRIDES]);
/* Adds the conditions under which copies of whole steps are of one tap.  stride: of an input's gradient, in phases if it is more than 1.
 * False: no case satisfies them, or the product is no convolution of two dims. */
bool rkb_pixel_map_conditions(const rkb_graph_t *graph, const rkb_launch_t *launch, int64_t stride, uint32_t most,
                              rkb_condition_t *conditions, uint32_t *count);
/* Describes the side, which has been looked at.  False: channels do not come last in memory, or a step has more than one tap. */
bool rkb_pixel_map_of(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                      rkb_pixel_map_t *map);
/* Writes where the tile's first pixel lies, where that is the same for all its terms. */
void rkb_pixel_map_place(rkb_writer_t *writer, const rkb_tile_side_t *side, const rkb_pixel_map_t *map);
/* As rkb_tile_map_copy. */
void rkb_pixel_map_copy(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                        const rkb_pixel_map_t *map, const char *to, const char *barrier);

#endif
