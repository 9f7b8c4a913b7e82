/* Sums over rows in a launch that also reduces along rows (row_range_sums.h): their lines in its kernel, and the launch that adds the
 * parts.  One thread writes them. */
#ifndef RKB_GENERATOR_SUMS_OVER_ROWS_H
#define RKB_GENERATOR_SUMS_OVER_ROWS_H

#include "generator/row/rows.h"

/* Whether an anchor is a sum over all rows, one for each piece of a row. */
bool rkb_rows_is_segment(const rkb_writer_t *writer, const rkb_rows_t *rows, uint32_t anchor);
/* Begins a loop over the pieces of the row; a loop over the places of a piece follows inside it.  levels: the pass of each anchor; names:
 * those of the anchors' sums. */
void rkb_rows_open_segment(rkb_writer_t *writer, rkb_rows_t *rows, const uint32_t *levels, uint32_t level,
                           const char **names);
void rkb_rows_close_segment(rkb_writer_t *writer, rkb_rows_t *rows, const uint32_t *levels, uint32_t level,
                            const char **names);
/* The term of a sum for each piece, at a place of the row. */
const char *rkb_rows_segment_term(rkb_writer_t *writer, const rkb_rows_t *rows, uint32_t anchor,
                                  const rkb_index_t *place);
/* Sums of each place over the rows of a block: sets them to zero, and begins the loop over the block's rows. */
void rkb_rows_open_stretch(rkb_writer_t *writer, rkb_rows_t *rows);
void rkb_rows_close_stretch(rkb_writer_t *writer, rkb_rows_t *rows);
/* Adds the present row's terms to the sums of its places. */
void rkb_rows_add_to_stretch(rkb_writer_t *writer, const rkb_rows_t *rows, const rkb_index_t *place,
                             const rkb_index_t *const *at);

#endif
