/* A row in order, with what may stand where (ranked_row.h).  Pure functions; any thread. */
#include "reference/operations/ranked_row.h"

#include <math.h>
#include <stdlib.h>
#include "base/memory.h"

void rkb_ranked_row_free(rkb_ranked_row_t *row) {
   rkb_block_free(&row->points);
   free(row->entries);
   free(row->upper);
   free(row->lower);
   free(row->before);
   free(row->behind);
   free(row->turns);
   *row = (rkb_ranked_row_t){0};
}

bool rkb_ranked_row_new(rkb_ranked_row_t *row, uint64_t length) {
   *row = (rkb_ranked_row_t){.length = length};
   row->entries = rkb_try_uncleared(length + 1, sizeof *row->entries, NULL);
   row->upper = rkb_try_uncleared(length + 1, sizeof *row->upper, NULL);
   row->lower = rkb_try_uncleared(length + 1, sizeof *row->lower, NULL);
   row->before = rkb_try_uncleared(length + 1, sizeof *row->before, NULL);
   row->behind = rkb_try_uncleared(length + 1, sizeof *row->behind, NULL);
   row->turns = rkb_try_uncleared(length + 1, sizeof *row->turns, NULL);
   if (row->entries && row->upper && row->lower && row->before && row->behind && row->turns &&
       rkb_block_new(&row->points, length))
      return true;
   rkb_ranked_row_free(row);
   return false;
}

static int entry_order(const void *a, const void *b) {
   const rkb_ranked_entry_t *left = a, *right = b;
   if (left->side != right->side)
      return left->side < right->side ? 1 : -1;
   if (!left->side && left->value != right->value)
      return left->value < right->value ? 1 : -1;
   return (left->place > right->place) - (left->place < right->place);
}

static int descending_order(const void *a, const void *b) {
   double left = *(const double *)a, right = *(const double *)b;
   return (left < right) - (left > right);
}

void rkb_ranked_row_sort(rkb_ranked_row_t *row, rkb_row_order_t order) {
   row->order = order;
   row->variance = 0;
   row->flags = 0;
   for (uint64_t i = 0; i < row->length; i++) {
      rkb_point_t point = rkb_block_get(&row->points, i);
      const double value = order.descending ? point.value : -point.value;
      const int side = isnan(value) ? (order.nan_first ? 1 : -1) : 0;
      const double hard = side ? 0 : point.hard, at = side ? side * INFINITY : value;
      row->entries[i] = (rkb_ranked_entry_t){value, hard, i, side};
      row->upper[i] = at + hard;
      row->lower[i] = at - hard;
      row->variance = fmax(row->variance, point.variance);
      row->flags |= point.flags & RKB_POINT_DONT_CARE;
   }
   qsort(row->entries, row->length, sizeof *row->entries, entry_order);
   qsort(row->upper, row->length, sizeof *row->upper, descending_order);
   qsort(row->lower, row->length, sizeof *row->lower, descending_order);
}

/* How many of the falling numbers exceed the limit, or, with equal, are not below it. */
static uint64_t count_above(const double *falling, uint64_t count, double limit, bool equal) {
   uint64_t low = 0, high = count;
   while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      if (falling[middle] > limit || (equal && falling[middle] == limit))
         low = middle + 1;
      else
         high = middle;
   }
   return low;
}

/* Of entries first .. end-1, which are equal: the exact ones come in the order of their places. */
static void order_equals(rkb_ranked_row_t *row, uint64_t first, uint64_t end) {
   uint64_t exact = 0, seen = 0;
   for (uint64_t i = first; i < end; i++)
      exact += row->entries[i].hard == 0;
   for (uint64_t i = first; i < end; i++)
      if (row->entries[i].hard == 0) {
         row->before[i] += seen++;
         row->behind[i] += exact - seen;
      }
}

void rkb_ranked_row_count(rkb_ranked_row_t *row) {
   const uint64_t length = row->length;
   uint64_t first = 0, end = length; /* the numbers; NaN is before or behind them */
   while (first < length && row->entries[first].side > 0)
      first++;
   while (end > first && row->entries[end - 1].side < 0)
      end--;
   for (uint64_t i = 0; i < length; i++) {
      const rkb_ranked_entry_t *entry = &row->entries[i];
      row->turns[entry->place] = i;
      if (entry->side) {
         row->before[i] = entry->side > 0 ? 0 : end;
         row->behind[i] = entry->side > 0 ? length - first : 0;
         continue;
      }
      /* The infinities of NaN are at the same end of both arrays, as the entries are. */
      row->before[i] =
         first + count_above(row->lower + first, end - first, entry->value + entry->hard, false);
      row->behind[i] =
         length - first - count_above(row->upper + first, end - first, entry->value - entry->hard, true);
   }
   for (uint64_t i = 0, next; row->order.first_of_equals && i < length; i = next) {
      for (next = i + 1; next < length && row->entries[next].side == row->entries[i].side &&
                         (row->entries[i].side || row->entries[next].value == row->entries[i].value);)
         next++;
      order_equals(row, i, next);
   }
}
