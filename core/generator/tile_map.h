/* A factor of a product as a tensor map describes it: dims, distances, and the boxes that one copy moves.  One thread. */
#ifndef RKB_GENERATOR_TILE_MAP_H
#define RKB_GENERATOR_TILE_MAP_H

#include "generator/staging.h"

#define RKB_MAP_ROW_BYTES 128 /* of a box: as wide as the widest swizzle */

typedef struct rkb_tile_map {
   uint32_t stored;         /* the node whose buffer it is */
   const rkb_index_t *base; /* of its first element; uniform, as all that follow */
   const rkb_index_t *fast, *slow;
   const rkb_index_t *row;   /* elements from one to the next of the slow dim */
   const rkb_index_t *group; /* the same of the products side by side; NULL: all have this factor in common */
   const rkb_index_t *tap;   /* the same of a convolution's taps, whose channels alone lie at equal distances; NULL: all terms do */
} rkb_tile_map_t;

/* Describes a side whose terms are depth_fast or not (the side has been looked at).  False: its elements are computed, or do not lie at
 * equal distances, or not at whole multiples of 16 bytes. */
bool rkb_tile_map_of(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side, rkb_tile_map_t *map);
/* Bytes from one box of a side's tile to the next in shared memory. */
int64_t rkb_tile_map_box_bytes(const rkb_product_tile_t *tile, const rkb_tile_side_t *side);
/* Writes the copies of a side's tile to the address that the text `to` gives, from m_first or n_first and first on. */
void rkb_tile_map_copy(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side, const rkb_tile_map_t *map,
                       const char *to, const char *barrier);

#endif
