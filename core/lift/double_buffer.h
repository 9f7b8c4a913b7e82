/* What double_buffer knows of a loop over tiles in shared memory.  The double_buffer_*.c files share this header. */
#ifndef RKB_LIFT_DOUBLE_BUFFER_H
#define RKB_LIFT_DOUBLE_BUFFER_H

#include "lift/loops.h"
#include "lift/rewrite.h"

enum { DOUBLE_BUFFER_TILES = 8 };

typedef struct double_buffer {
   const lift_tree_t *tree;
   lift_change_t *change;
   uint32_t function;
   lift_loop_t loop;
   bool barrier_first; /* barrier, copy, barrier, computation; else copy, barrier, computation, barrier */
   uint32_t barriers[2];
   uint32_t copy, copy_end;       /* statements from copy up to, without, copy_end */
   uint32_t compute, compute_end; /* the same; LIFT_NONE: up to the end of the body */
   uint32_t tiles[DOUBLE_BUFFER_TILES], tile_count;
} double_buffer_t;

/* Whether the copy writes the same elements of the tile in every turn, whatever the loop's variable is, and reads none: double_buffer_writes.c */
bool double_buffer_writes(const double_buffer_t *buffer, uint32_t tile);
/* Whether the loop uses shared memory element by element, and has no pointer or reference through which something could be stored unseen.  A view as
 * wider numbers may also need an alignment that the second tile has not: the same file. */
bool double_buffer_has_no_views(const double_buffer_t *buffer);
/* False, with a refusal, when the text cannot be written: double_buffer_text.c */
bool double_buffer_write(const double_buffer_t *buffer);

#endif
