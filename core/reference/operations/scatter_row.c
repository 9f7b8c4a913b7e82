/* Finds the entries of an index that name one place.  A row whose index was read stays in memory, and so does the order of its entries by
 * place: a gradient of an embedding asks for many places of one row.  Owned by the reader's thread. */
#include "reference/operations/scatter_row.h"

#include <math.h>
#include <stdlib.h>
#include "base/memory.h"
#include "reference/operations/layout.h"

/* Ordering a row costs as much as a dozen searches through it, so a row of which few places are asked for is searched. */
#define READS_BEFORE_ORDER 12

/* The dims along which an index repeats itself: an embedding looks up a whole row of its table by one number. */
static uint64_t stretched_dims(const rkb_program_t *program, uint32_t index) {
   const rkb_program_value_t *value = &program->values[index];
   if (value->node < 0 || program->nodes[value->node].operation != rkb_expand_operation())
      return 0;
   int64_t strides[RKB_MAX_RANK] = {0};
   rkb_shape_broadcast_strides(rkb_program_shape(program, program->nodes[value->node].inputs[0]), &value->shape, strides);
   uint64_t mask = 0;
   for (uint32_t d = 0; d < value->shape.rank; d++)
      mask |= (uint64_t)(strides[d] == 0) << d;
   return mask;
}

bool rkb_scatter_row_new(rkb_scatter_row_t *row, const rkb_program_t *program, uint32_t index, uint64_t mask) {
   const rkb_shape_t *shape = rkb_program_shape(program, index);
   *row = (rkb_scatter_row_t){
      .rows = rkb_rows_of(shape, mask), .shape = *shape, .stretched = stretched_dims(program, index) & ~mask, .key = UINT64_MAX};
   row->elements = rkb_try_uncleared(row->rows.length + 1, sizeof *row->elements, NULL);
   row->ordered = rkb_try_uncleared(row->rows.length + 1, sizeof *row->ordered, NULL);
   return row->elements && row->ordered && rkb_block_new(&row->places, row->rows.length);
}

void rkb_scatter_row_free(rkb_scatter_row_t *row) {
   free(row->elements);
   free(row->ordered);
   rkb_block_free(&row->places);
}

static int by_place(const void *a, const void *b) {
   const rkb_scatter_entry_t *one = a, *other = b;
   if (one->place != other->place)
      return one->place < other->place ? -1 : 1;
   return one->number < other->number ? -1 : 1;
}

/* Orders the entries of the row that was read. */
static void order(rkb_scatter_row_t *row) {
   row->ordered_count = 0;
   for (uint64_t j = 0; j < row->rows.length; j++)
      if (isfinite(row->places.value[j]))
         row->ordered[row->ordered_count++] = (rkb_scatter_entry_t){row->places.value[j], j};
   qsort(row->ordered, row->ordered_count, sizeof *row->ordered, by_place);
}

/* The number of ordered entries before the first that is not below the place. */
static uint64_t entries_below(const rkb_scatter_row_t *row, double place) {
   uint64_t low = 0, high = row->ordered_count;
   while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      if (row->ordered[middle].place < place)
         low = middle + 1;
      else
         high = middle;
   }
   return low;
}

/* Every row that repeats the same places has the same key. */
static uint64_t key_of(const rkb_scatter_row_t *row, uint64_t number) {
   const int64_t base = rkb_rows_base(&row->rows, number);
   if (!row->stretched)
      return (uint64_t)base;
   int64_t at[RKB_MAX_RANK];
   rkb_shape_split(&row->shape, (uint64_t)base, at);
   for (uint32_t d = 0; d < row->shape.rank; d++)
      if (row->stretched >> d & 1)
         at[d] = 0;
   return rkb_shape_join(&row->shape, at);
}

static int read_places(rkb_reader_t *reader, const rkb_program_node_t *node, rkb_scatter_row_t *row, uint64_t number) {
   rkb_rows_index(&row->rows, number, 0, row->rows.length, row->elements);
   const int status = rkb_read(reader, node->inputs[1], row->rows.length, row->elements, &row->places);
   if (status != RKB_OK)
      return status;
   row->doubtful = 0;
   for (uint64_t j = 0; j < row->rows.length; j++)
      row->doubtful += row->places.hard[j] > 0;
   return RKB_OK;
}

int rkb_scatter_row_find(rkb_reader_t *reader, const rkb_program_node_t *node, rkb_scatter_row_t *row,
                         uint64_t number, uint64_t place, int64_t *here, uint64_t *here_count, bool *doubt) {
   const uint64_t key = key_of(row, number);
   if (key != row->key) {
      const int status = read_places(reader, node, row, number);
      if (status != RKB_OK)
         return status;
      row->key = key;
      row->reads = 0;
   }
   if (++row->reads == READS_BEFORE_ORDER)
      order(row);
   *here_count = 0;
   *doubt = false;
   for (uint64_t j = 0; row->doubtful && j < row->rows.length; j++)
      *doubt |= row->places.hard[j] > 0 && fabs(row->places.value[j] - (double)place) <= row->places.hard[j];
   if (row->reads >= READS_BEFORE_ORDER)
      for (uint64_t n = entries_below(row, (double)place); n < row->ordered_count && row->ordered[n].place == (double)place; n++)
         rkb_rows_index(&row->rows, number, row->ordered[n].number, 1, &here[(*here_count)++]);
   else
      for (uint64_t j = 0; j < row->rows.length; j++)
         if (row->places.value[j] == (double)place)
            rkb_rows_index(&row->rows, number, j, 1, &here[(*here_count)++]);
   return RKB_OK;
}
