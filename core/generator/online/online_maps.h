/* A factor of a launch over scores as a tensor map describes it.  One thread. */
#ifndef RKB_GENERATOR_ONLINE_MAPS_H
#define RKB_GENERATOR_ONLINE_MAPS_H

#include "generator/online/online.h"

typedef struct rkb_online_map {
   uint32_t stored;                     /* the node whose buffer it is */
   const rkb_index_t *rows, *row;       /* how many rows, and elements from one to the next; uniform */
   const rkb_index_t *matrix;           /* the number of the block's matrix; NULL: there is one */
   const rkb_index_t *matrices, *distance; /* how many matrices are side by side, and the distance between two in elements; uniform */
} rkb_online_map_t;

/* Describes a tile's factor.  False: its elements are computed, or are not at equal distances, or not at
 * multiples of 16 bytes. */
bool rkb_online_map_of(rkb_writer_t *writer, const rkb_online_t *o, const rkb_brought_t *tile, rkb_online_map_t *map);
/* Writes the copies of a tile's rows, from m_first or n_first on, to the address in the text `to`.  Each copy
 * is a box: so many rows, and 128 bytes of each row.  All boxes of the first rows come before those of the next
 * rows. */
void rkb_online_map_copy(rkb_writer_t *writer, const rkb_online_t *o, const rkb_brought_t *tile, const rkb_online_map_t *map, int64_t rows,
                         const char *to, const char *barrier);

#endif
