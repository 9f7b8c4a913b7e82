/* Rows that a cluster owns one after the other.  Its blocks keep a row in shared memory.  In the last pass over a row, each thread reads its part
 * of the row and then copies its part of the next row to the same place.  So loads go on while results are stored.  One thread writes the text. */
#ifndef RKB_GENERATOR_ROWS_IN_TURN_H
#define RKB_GENERATOR_ROWS_IN_TURN_H

#include "generator/row/rows.h"

/* Takes the loads that a trial of all passes kept.  rows->in_turn: they can be copied in this way. */
void rkb_rows_plan_turns(rkb_rows_t *rows, rkb_writer_t *writer, const rkb_writer_t *trial);
/* Writes the first row's copies and begins the loop over the rows; the second function ends the loop. */
void rkb_rows_open_turns(rkb_writer_t *writer, rkb_rows_t *rows);
void rkb_rows_close_turns(rkb_writer_t *writer);
/* In the last pass over a row, at the beginning of a round: reads the present row's and begins the copies of the next one. */
void rkb_rows_copy_next(rkb_writer_t *writer, const rkb_rows_t *rows, const rkb_index_t *round);

#endif
