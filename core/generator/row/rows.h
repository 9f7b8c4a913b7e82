/* The rows of a launch that reduces them, for writing its kernel: how many there are, which places each
 * thread has, and where a part begins.  Columns are rows whose lanes run along the kept dims.  One thread
 * writes them. */
#ifndef RKB_GENERATOR_ROWS_H
#define RKB_GENERATOR_ROWS_H

#include "generator/text/launch_text.h"

/* The properties of a launch's rows. */
typedef struct rkb_rows {
   const rkb_launch_t *launch;
   /* The row's number, how many rows there are, elements of one row. */
   const rkb_index_t *row, *count, *length;
   const rkb_index_t *next; /* the number of the row whose loads are in flight; NULL: none */
   uint32_t width;
   const char *thread, *step; /* the number of a thread in its row, and how many share the row */
   const char *begin, *end;   /* where its part begins and ends, in packs */
   const char *segment;       /* the number of the present piece of a row, among those of all rows */
   /* Anchors that are found in one pass; variance is the count of anchors where there are none. */
   uint32_t variance, mean;
   /* Anchors that a cluster exchanges at once (softmax_rows.h); powers is the count of anchors where there are none. */
   uint32_t largest, powers;
   /* The terms of the present pack from which they are made; NULL: they are not made. */
   const char *terms;
   const char *moments[3];    /* a thread's own values of them: mean, squares, count */
   uint32_t keep;             /* loads of a row that stay in registers; 0: none, and the loop has no limit */
   struct rkb_kept ahead[8];  /* what is loaded before any pass (rows_ahead.h) */
   uint32_t ahead_count;
   /* Rows of the block that lie in shared memory at once, and the bytes of one; 0: each thread has what it keeps in registers. */
   int64_t stages, stage_bytes;
   /* in_turn: a cluster owns one row after the other; the next row is copied to where this row lies.  last: this pass does so. */
   bool in_turn, last;
} rkb_rows_t;

/* How many rows the launch has, and the elements of one. */
void rkb_rows_measure(rkb_writer_t *writer, rkb_rows_t *rows);
/* Where a part of a split row begins and ends, in packs.  The text calls its number `part`. */
void rkb_rows_open_part(rkb_writer_t *writer, rkb_rows_t *rows, const rkb_index_t *packs, int64_t parts);
/* Writes what a part gives each anchor (names); the thread with number 0 stores it. */
void rkb_rows_write_parts(rkb_writer_t *writer, const rkb_rows_t *rows, const char *thread,
                          const char *const *names);
/* The loop over a row's places; returns the number of an element in it. */
const rkb_index_t *rkb_rows_open_places(rkb_writer_t *writer, const rkb_rows_t *rows);
void rkb_rows_close_places(rkb_writer_t *writer, const rkb_rows_t *rows);
/* The operand's coordinates at a place of a row.  at: RKB_MAX_RANK of them. */
void rkb_row_at(rkb_writer_t *writer, const rkb_node_t *reduce, const rkb_index_t *row,
                const rkb_index_t *place, const rkb_index_t **at);
/* One term of an anchor: what a reduction reads, or a product of factors. */
const char *rkb_row_term(rkb_writer_t *writer, uint32_t anchor, const rkb_index_t *row,
                         const rkb_index_t *place);
/* The names of what a row or a column is reduced to, for a comment: "mean_sum and variance_sum". */
const char *rkb_reductions_text(rkb_writer_t *writer, const rkb_launch_t *launch);
/* A reduction's first value, its word in the names of helpers (sum, largest, smallest), and the line that adds a term. */
const char *rkb_reduction_start(const rkb_node_t *anchor);
const char *rkb_reduction_word(const rkb_node_t *anchor);
void rkb_reduction_add(rkb_writer_t *writer, const rkb_node_t *anchor, const char *name, const char *term);

#endif
