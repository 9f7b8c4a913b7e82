/* The rows of a launch that finds their largest (or smallest) elements in order, for writing its kernel.  One
 * thread writes them. */
#ifndef RKB_GENERATOR_RANKS_H
#define RKB_GENERATOR_RANKS_H

#include "generator/text/launch_text.h"

#define RKB_MOST_RANKED 8       /* elements of its part of a row that a thread keeps in order */
#define RKB_RANKED_BY_WARP 1024 /* places of a row that a warp looks through by itself */

typedef struct rkb_ranks {
   const rkb_launch_t *launch;
   const rkb_node_t *node, *from; /* the first node that is found, and the node in which it is found */
   uint32_t dim;                  /* the dim along which rows lie */
   bool descending;
   const rkb_index_t *length, *turns, *count; /* places of a row, elements that are found in it, rows */
   const rkb_index_t *line;                   /* the number of a row; NULL until the text has it */
} rkb_ranks_t;

/* The writer fails if the launch's nodes do not rank the same rows. */
rkb_ranks_t rkb_ranks_of(rkb_writer_t *writer, const rkb_launch_t *launch);
/* Writes what a turn found: an element and its place. */
void rkb_ranks_write_found(rkb_writer_t *writer, const rkb_ranks_t *ranks, const rkb_index_t *turn,
                           const char *element, const char *place);

#endif
