/* Loads of a row ahead of time.  A block that owns one row loads it before the first pass over it.  A block that owns several rows loads
 * the next row into registers before the passes over the present one, or the next few rows into shared memory.  Each thread copies to shared
 * memory only what it will read itself, so no thread waits for another thread's copies.  One thread writes the text. */
#ifndef RKB_GENERATOR_ROWS_AHEAD_H
#define RKB_GENERATOR_ROWS_AHEAD_H

#include "generator/row/rows.h"

/* Takes the loads that a trial of all passes kept for later passes, except those under a condition. */
void rkb_rows_plan_ahead(rkb_rows_t *rows, rkb_writer_t *writer, const rkb_writer_t *trial);
/* Before the loop over a block's rows: what all rows share, and the first row's loads. */
void rkb_rows_load_first(rkb_writer_t *writer, rkb_rows_t *rows);
/* Before the passes over a row, inside that loop where there is one: the row's loads, and those of the next row. */
void rkb_rows_load_ahead(rkb_writer_t *writer, rkb_rows_t *rows);
/* At the end of that loop. */
void rkb_rows_end_ahead(rkb_writer_t *writer, const rkb_rows_t *rows);
/* How many blocks a multiprocessor should hold; each has this many threads, and this many bytes of rows to come. */
uint32_t rkb_rows_staged_blocks(int64_t threads, int64_t bytes);

#endif
