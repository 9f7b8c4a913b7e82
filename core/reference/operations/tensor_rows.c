/* Rows of a tensor along some of its dims.  Pure functions; any thread. */
#include "reference/operations/reduce.h"

#include <stdlib.h>
#include "base/memory.h"

#define PREFETCHED (UINT64_C(1) << 18) /* elements per batch */

rkb_rows_t rkb_rows_of(const rkb_shape_t *shape, uint64_t mask) {
   rkb_rows_t rows = {.length = 1, .count = 1};
   int64_t stride = 1, strides[RKB_MAX_RANK];
   for (uint32_t d = shape->rank; d-- > 0;) {
      strides[d] = stride;
      stride *= shape->size[d];
   }
   for (uint32_t d = 0; d < shape->rank; d++) {
      if (mask >> d & 1) {
         rows.length *= (uint64_t)shape->size[d];
         if (d > 0 && mask >> (d - 1) & 1) { /* merge it with the dim before */
            rows.inner_size[rows.inner_rank - 1] *= shape->size[d];
            rows.inner_stride[rows.inner_rank - 1] = strides[d];
            continue;
         }
         rows.inner_size[rows.inner_rank] = shape->size[d];
         rows.inner_stride[rows.inner_rank++] = strides[d];
      } else {
         rows.outer_size[rows.outer_rank] = shape->size[d];
         rows.outer_stride[rows.outer_rank++] = strides[d];
         rows.count *= (uint64_t)shape->size[d];
      }
   }
   return rows;
}

int64_t rkb_rows_base(const rkb_rows_t *rows, uint64_t row) {
   int64_t base = 0;
   for (uint32_t d = rows->outer_rank; d-- > 0;) {
      base += (int64_t)(row % (uint64_t)rows->outer_size[d]) * rows->outer_stride[d];
      row /= (uint64_t)rows->outer_size[d];
   }
   return base;
}

void rkb_rows_index(const rkb_rows_t *rows, uint64_t row, uint64_t first, uint64_t count, int64_t *index) {
   int64_t base = rkb_rows_base(rows, row), at[RKB_MAX_RANK] = {0};
   uint64_t rest = first;
   for (uint32_t d = rows->inner_rank; d-- > 0;) {
      at[d] = (int64_t)(rest % (uint64_t)rows->inner_size[d]);
      rest /= (uint64_t)rows->inner_size[d];
      base += at[d] * rows->inner_stride[d];
   }
   if (rows->inner_rank == 1) {
      for (uint64_t i = 0; i < count; i++)
         index[i] = base + (int64_t)i * rows->inner_stride[0];
      return;
   }
   for (uint64_t i = 0; i < count; i++) {
      index[i] = base;
      for (uint32_t d = rows->inner_rank; d-- > 0;) { /* step to the next place, like an odometer */
         base += rows->inner_stride[d];
         if (++at[d] < rows->inner_size[d])
            break;
         base -= rows->inner_size[d] * rows->inner_stride[d];
         at[d] = 0;
      }
   }
}

void rkb_rows_split(const rkb_shape_t *shape, uint64_t mask, uint64_t element, uint64_t *row,
                    uint64_t *place) {
   int64_t at[RKB_MAX_RANK];
   rkb_shape_split(shape, element, at);
   *row = *place = 0;
   for (uint32_t d = 0; d < shape->rank; d++) {
      uint64_t *to = mask >> d & 1 ? place : row;
      *to = *to * (uint64_t)shape->size[d] + (uint64_t)at[d];
   }
}

int rkb_rows_prefetch(rkb_reader_t *reader, uint32_t value, const rkb_rows_t *rows, uint64_t count,
                      const uint64_t *list, uint64_t *next) {
   uint64_t most = PREFETCHED / rows->length, found = 0;
   /* Rows this long gain nothing from batches, and inputs are not computed. */
   if (most < 2 || rkb_program_is_input(rkb_reader_program(reader), value)) {
      *next = count;
      return RKB_OK;
   }
   most = count - *next < most ? count - *next : most;
   int64_t *index = rkb_try_uncleared(most * rows->length, sizeof *index, NULL);
   if (!index)
      return RKB_ERR_NOMEM;
   uint64_t i = *next;
   for (; i < count && found < most; i++)
      if (i == *next || list[i] != list[i - 1])
         rkb_rows_index(rows, list[i], 0, rows->length, index + found++ * rows->length);
   *next = i;
   int status = rkb_prefetch(reader, value, found * rows->length, index);
   free(index);
   return status;
}
