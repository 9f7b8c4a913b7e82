/* Loads of a row that are made before its first pass, and, where a block owns rows one after the other, before the passes of the row before:
 * into registers, or, of several rows to come, into shared memory.  There each thread copies what it reads itself, so that nobody waits for
 * another's copies.  One thread writes them. */
#ifndef RKB_GENERATOR_ROWS_AHEAD_H
#define RKB_GENERATOR_ROWS_AHEAD_H

#include "generator/row/rows.h"

/* Takes what a trial of all passes kept, at this variable for the row. */
void rkb_rows_plan_ahead(rkb_rows_t *rows, rkb_writer_t *writer, const rkb_writer_t *trial);
/* Before the loop over a block's rows: what all rows share, and the first row's loads. */
void rkb_rows_load_first(rkb_writer_t *writer, rkb_rows_t *rows);
/* In it, or where a block has one row, before the passes: the row's loads, and those of the next. */
void rkb_rows_load_ahead(rkb_writer_t *writer, rkb_rows_t *rows);
/* At the end of that loop. */
void rkb_rows_end_ahead(rkb_writer_t *writer, const rkb_rows_t *rows);
/* How many blocks of so many threads, each with so many bytes of rows to come, a multiprocessor should hold. */
uint32_t rkb_rows_staged_blocks(int64_t threads, int64_t bytes);

#endif
