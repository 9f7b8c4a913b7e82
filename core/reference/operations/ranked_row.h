/* A row whose elements lie within bounds: which element a kernel may put at which place of the row's order.  Pure functions of the elements.
 *
 * A kernel holds some number within the bounds of each element, and sorts by these numbers.  An element is certainly before another one
 * if that is so for all such numbers.  It may stand at turn k (from 0) if at most k elements are certainly before it, and at least k
 * may be.  In a row of exact elements only equal ones may change places. */
#ifndef RKB_REFERENCE_OPERATIONS_RANKED_ROW_H
#define RKB_REFERENCE_OPERATIONS_RANKED_ROW_H

#include "reference/operation.h"

typedef struct rkb_ranked_entry {
   double value, hard; /* the largest comes first: of ascending rows with the other sign */
   uint64_t place;     /* in the row */
   int side;           /* of all numbers, where it is NaN: 1 before them, -1 behind them; 0: it is a number */
} rkb_ranked_entry_t;

typedef struct rkb_row_order {
   bool descending;
   bool nan_first;       /* NaN comes before all numbers, else behind them */
   bool first_of_equals; /* equal exact elements come in the order of their places; otherwise in any */
} rkb_row_order_t;

typedef struct rkb_ranked_row {
   uint64_t length;
   rkb_block_t points; /* the elements; whoever sorts the row fills them in */
   rkb_row_order_t order;
   rkb_ranked_entry_t *entries; /* in order */
   double *upper, *lower;       /* the ends of their bounds, each in order; of NaN an infinity */
   uint64_t *before,
      *behind; /* by turn: how many are certainly before that entry, and behind it; rkb_ranked_row_count */
   uint64_t *turns; /* by place: its entry */
   double variance; /* the largest of an element */
   uint32_t flags;
} rkb_ranked_row_t;

/* Allocates a row of that length, or returns false when memory is out; free it with rkb_ranked_row_free. */
bool rkb_ranked_row_new(rkb_ranked_row_t *row, uint64_t length);
void rkb_ranked_row_free(rkb_ranked_row_t *row);
/* Sorts the row's points.  Call rkb_ranked_row_count, too, before the functions below. */
void rkb_ranked_row_sort(rkb_ranked_row_t *row, rkb_row_order_t order);
void rkb_ranked_row_count(rkb_ranked_row_t *row);

/* Whether that entry may stand at that turn. */
static inline bool rkb_ranked_row_admits(const rkb_ranked_row_t *row, uint64_t entry, uint64_t turn) {
   return row->before[entry] <= turn && turn + row->behind[entry] < row->length;
}

/* Whether the two entries are equal exact numbers, or both NaN. */
static inline bool rkb_ranked_entries_equal(const rkb_ranked_entry_t *a, const rkb_ranked_entry_t *b) {
   return a->side == b->side && (a->side || (a->value == b->value && a->hard == 0 && b->hard == 0));
}

#endif
