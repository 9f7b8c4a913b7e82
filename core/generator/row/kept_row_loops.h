/* The rounds of a thread over what it keeps of a row, where loads come before the passes.  One thread writes the text. */
#ifndef RKB_GENERATOR_KEPT_ROW_LOOPS_H
#define RKB_GENERATOR_KEPT_ROW_LOOPS_H

#include "generator/row/rows.h"

/* Whether a kept load differs from row to row, and the bytes of what a thread loads at once. */
bool rkb_kept_differs(const rkb_rows_t *rows, const struct rkb_kept *kept);
int64_t rkb_kept_bytes(const rkb_rows_t *rows, const struct rkb_kept *kept);
/* Begins the loop over the rounds, and returns its variable; the second function ends the loop. */
const rkb_index_t *rkb_rows_open_rounds(rkb_writer_t *writer, const rkb_rows_t *rows);
void rkb_rows_close_rounds(rkb_writer_t *writer);
/* The element of a kept load, of a row and a round. */
const rkb_index_t *rkb_rows_kept_element(rkb_writer_t *writer, const rkb_rows_t *rows,
                                         const struct rkb_kept *kept, const rkb_index_t *row,
                                         const rkb_index_t *round);
/* Says to later passes what is kept. */
void rkb_rows_know_kept(rkb_writer_t *writer, const rkb_rows_t *rows);

#endif
