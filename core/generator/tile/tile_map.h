/* A factor of a product as a tensor map describes it: dims, distances, and the boxes that one copy moves.  One thread. */
#ifndef RKB_GENERATOR_TILE_MAP_H
#define RKB_GENERATOR_TILE_MAP_H

#include "generator/tile/staging.h"

#define RKB_MAP_ROW_BYTES 128 /* bytes of a box's row: as wide as the widest swizzle */

typedef struct rkb_tile_map {
   uint32_t stored;         /* the node whose buffer it is */
   const rkb_index_t *base; /* the number of its first element; it and what follows is uniform */
   const rkb_index_t *fast, *slow;
   const rkb_index_t *row;   /* elements from one to the next of the slow dim */
   /* The same between the products side by side; NULL: all of them share this factor. */
   const rkb_index_t *group;
   /* The same between a convolution's taps, where only channels are at equal distances; NULL: all terms are at
    * equal distances. */
   const rkb_index_t *tap;
   bool padded; /* it describes a copy of the buffer (padded_rows.h) */
} rkb_tile_map_t;

/* Describes a side, which rkb_staging_look has seen; depth_fast: its terms are neighbours.  False: its
 * elements are computed, or are not at equal distances, or not at multiples of 16 bytes; with tile->pads a copy has
 * them at such multiples. */
bool rkb_tile_map_of(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side, rkb_tile_map_t *map);
/* Bytes from one box of a side's tile to the next in shared memory. */
int64_t rkb_tile_map_box_bytes(const rkb_product_tile_t *tile, const rkb_tile_side_t *side);
/* Writes the copies of a side's tile to the address in the text `to`, from m_first or n_first and from first
 * on. */
void rkb_tile_map_copy(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side, const rkb_tile_map_t *map,
                       const char *to, const char *barrier);

#endif
