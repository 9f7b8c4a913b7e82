/* Input elements that were drawn lately, in pieces.  The machine reads the inputs of a sampled block, and the reference then reads them
 * again: a long row once for its largest element, again for its sum, and once more for each other operation on it.  A piece that is
 * still in the table is copied instead of drawn.  A piece is a pure function of its tensor and its number, so a piece that was dropped
 * can be drawn again. */
#ifndef RKB_TASK_DRAWN_PIECES_H
#define RKB_TASK_DRAWN_PIECES_H

#include <stdint.h>

#define DRAWN_PIECE 64u /* elements: of float32 as many as the machine fetches at once */

typedef struct rkb_drawn_pieces rkb_drawn_pieces_t;

/* elements: of all tensors together; the table holds no more pieces than they have. */
rkb_drawn_pieces_t *rkb_drawn_pieces_new(uint64_t elements);
void rkb_drawn_pieces_free(rkb_drawn_pieces_t *pieces);

/* Draws count elements of a tensor from `first` on. */
typedef void rkb_drawing_t(const void *argument, uint32_t tensor, uint64_t first, uint64_t count,
                           double *out);

/* Gives elements from `first` on of a tensor of so many elements.  Copies those whose pieces are in the table,
 * draws the others, and keeps the whole pieces among those that it drew.  If some elements of a piece are
 * asked for again, the whole piece is drawn.  Any thread; while another thread uses the table, everything is
 * drawn. */
void rkb_drawn_pieces_read(rkb_drawn_pieces_t *pieces, rkb_drawing_t *draw, const void *argument,
                           uint32_t tensor, uint64_t elements, uint64_t first, uint64_t count, double *out);
/* The same of listed elements; at an index of -1 a zero.  No more than `most` neighbours are drawn at once. */
void rkb_drawn_pieces_list(rkb_drawn_pieces_t *pieces, rkb_drawing_t *draw, const void *argument,
                           uint32_t tensor, uint64_t elements, uint64_t most, uint64_t count,
                           const int64_t *index, double *out);

#endif
