/* What a softmax needs of a row that a cluster shares: its largest element; the sum of powers e^(x - largest); and the one place of a row to
 * which an element from memory is added.  The cluster waits once for the first two together.  One thread writes the text. */
#ifndef RKB_GENERATOR_SOFTMAX_ROWS_H
#define RKB_GENERATOR_SOFTMAX_ROWS_H

#include "generator/row/rows.h"

/* Finds the two reductions, where no other pass comes between them or beside them: rows->largest and rows->powers. */
void rkb_rows_find_powers(const rkb_writer_t *writer, rkb_rows_t *rows, const uint32_t *levels);
/* Around the pass that adds powers.  A thread takes its powers below the largest element of its own, whose variable is `largest`. */
void rkb_rows_begin_powers(rkb_writer_t *writer, const rkb_rows_t *rows, const char *largest);
void rkb_rows_end_powers(rkb_writer_t *writer, const rkb_rows_t *rows, const char *largest, const char *sum);

/* If an anchor is the largest of bfloat16 elements in memory: their node.  RKB_NO_NODE: it is the largest of something else, or the elements
 * are loaded one by one. */
uint32_t rkb_rows_of_pairs(const rkb_writer_t *writer, const rkb_rows_t *rows, uint32_t anchor);

/* The put that the results of a launch need, which adds an element to one place of each row; RKB_NO_NODE: there is none, or more than one. */
uint32_t rkb_rows_put(const rkb_writer_t *writer, const rkb_rows_t *rows);
/* Loads, before the passes, what the results at that place need from memory. */
void rkb_rows_load_put(rkb_writer_t *writer, const rkb_rows_t *rows, uint32_t put);
/* Between begin and end the roots are written as if no element was added.  Then the thread that has that place writes them there once more. */
void rkb_rows_begin_put(rkb_writer_t *writer, uint32_t put);
void rkb_rows_end_put(rkb_writer_t *writer, const rkb_rows_t *rows, uint32_t put, const rkb_launch_t *whole);

#endif
