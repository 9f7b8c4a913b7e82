/* Loads of a row that are made before its first pass, and, where a block owns rows one after the other, before the passes of the row before.
 * One thread writes them. */
#ifndef RKB_GENERATOR_ROWS_AHEAD_H
#define RKB_GENERATOR_ROWS_AHEAD_H

#include "generator/rows.h"

/* Takes what a trial of all passes kept, at this variable for the row. */
void rkb_rows_plan_ahead(rkb_rows_t *rows, const rkb_writer_t *trial);
/* Before the loop over a block's rows: what all rows share, and the first row's loads. */
void rkb_rows_load_first(rkb_writer_t *writer, rkb_rows_t *rows);
/* In it, or where a block has one row, before the passes: the row's loads, and those of the next. */
void rkb_rows_load_ahead(rkb_writer_t *writer, rkb_rows_t *rows);

#endif
