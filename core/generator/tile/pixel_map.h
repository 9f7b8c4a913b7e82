/* A convolution's factor as a tensor map of pixels (im2col), where channels come last in memory: a copy
 * brings so many channels of so many neighbouring pixels, as one tap of the window sees them.  One thread. */
#ifndef RKB_GENERATOR_PIXEL_MAP_H
#define RKB_GENERATOR_PIXEL_MAP_H

#include "generator/tile/staging.h"

#define RKB_PIXEL_DIMS 2u /* along a row of pixels, and down */

typedef struct rkb_pixel_map {
   uint32_t stored; /* the node whose buffer it is */
   const rkb_index_t *channels, *size[RKB_PIXEL_DIMS], *images;
   const rkb_index_t *positions[RKB_PIXEL_DIMS]; /* how many positions the window has along each dim */
   const rkb_index_t *window[RKB_PIXEL_DIMS], *step[RKB_PIXEL_DIMS], *dilation[RKB_PIXEL_DIMS];
   const rkb_index_t *before[RKB_PIXEL_DIMS],
      *behind
         /* How far before the first pixel the box of pixels begins, and how far before the last pixel
          * it ends. */
         [RKB_PIXEL_DIMS];
   bool backwards; /* in the input's gradient the first tap is farthest from the pixel */
   /* In phases: the shift of the first phase; NULL: there are no phases. */
   const rkb_index_t *first_shift[RKB_PIXEL_DIMS];
} rkb_pixel_map_t;

/* Whether a side of the product contains pixels. */
bool rkb_side_is_of_pixels(const rkb_writer_t *writer, const rkb_product_tile_t *tile,
                           const rkb_tile_side_t *side);
/* Whether a launch computes the input gradient of a convolution that in some case has a stride other than 1,
 * with pixels that maps describe. */
bool rkb_launch_has_phases(const rkb_graph_t *graph, const rkb_launch_t *launch);
/* Lists the strides of its cases, without 1; returns how many there are. */
#define RKB_MOST_STRIDES 4u
uint32_t rkb_launch_strides(const rkb_graph_t *graph, const rkb_launch_t *launch, int64_t strides[RKB_MOST_STRIDES]);
/* Adds the conditions under which the copies of a step belong to one tap.  stride: of an input's gradient, in
 * phases if it is more than 1.  False: no case satisfies them, or the product is no convolution of two dims. */
bool rkb_pixel_map_conditions(const rkb_graph_t *graph, const rkb_launch_t *launch, int64_t stride, uint32_t most,
                              rkb_condition_t *conditions, uint32_t *count);
/* Describes the side, which rkb_staging_look has seen.  False: channels do not come last in memory, or a step
 * has more than one tap. */
bool rkb_pixel_map_of(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                      rkb_pixel_map_t *map);
/* Writes where the tile's first pixel is, if that is the same for all its terms. */
void rkb_pixel_map_place(rkb_writer_t *writer, const rkb_tile_side_t *side, const rkb_pixel_map_t *map);
/* For a side whose terms are channels of taps, counters give the channel and the tap instead of divisions by sizes: only one thread copies,
 * and four divisions for each step would take it about as long as tensor cores need for the step.  The first function writes the counters
 * before the loop over the steps of a tile; the second advances them after a step's copies.  (Counters for the pixels of a weight's gradient
 * were slower than divisions.) */
void rkb_pixel_map_begin_terms(rkb_writer_t *writer, rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                               const rkb_pixel_map_t *map);
void rkb_pixel_map_next_terms(rkb_writer_t *writer, const rkb_product_tile_t *tile,
                              const rkb_pixel_map_t *map);
/* As rkb_tile_map_copy. */
void rkb_pixel_map_copy(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                        const rkb_pixel_map_t *map, const char *to, const char *barrier);

#endif
