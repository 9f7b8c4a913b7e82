/* The elements of one row of a scatter's index: which of them go to one place. */
#ifndef RKB_REFERENCE_OPERATIONS_SCATTER_ROW_H
#define RKB_REFERENCE_OPERATIONS_SCATTER_ROW_H

#include "reference/operation.h"
#include "reference/operations/reduce.h"

/* One entry of a row: the place that it names, and its number in the row. */
typedef struct rkb_scatter_entry {
   double place;
   uint64_t number;
} rkb_scatter_entry_t;

typedef struct rkb_scatter_row {
   rkb_rows_t rows;
   rkb_shape_t shape;
   uint64_t stretched; /* mask of the dims along which the index repeats itself */
   rkb_block_t places;
   int64_t *elements;            /* of the whole row */
   rkb_scatter_entry_t *ordered; /* by place, then by number; only those that name a place without doubt */
   uint64_t ordered_count, doubtful; /* doubtful: entries of the row whose place is in doubt */
   uint64_t key,
      reads; /* the first element of the row that was read; how often a place of it was asked for */
} rkb_scatter_row_t;

/* False: no memory; rkb_scatter_row_free takes back what is there.  index: the value that names places along the one dim of mask. */
bool rkb_scatter_row_new(rkb_scatter_row_t *row, const rkb_program_t *program, uint32_t index, uint64_t mask);
void rkb_scatter_row_free(rkb_scatter_row_t *row);
/* Puts the elements of row `number` that go to a place into here, which has room for a whole row, in the order of their numbers, and tells
 * how many they are.  doubt: whether another one may go there too. */
int rkb_scatter_row_find(rkb_reader_t *reader, const rkb_program_node_t *node, rkb_scatter_row_t *row,
                         uint64_t number, uint64_t place, int64_t *here, uint64_t *here_count, bool *doubt);

#endif
