/* Triangles, diagonals and symmetry of an input's matrices.  Pure functions, any thread. */
#include "task/matrix_structure.h"

#include <string.h>

bool rkb_structure_parse(const char *name, uint32_t *structure) {
   static const char *const names[] = {"", "upper", "lower", "diagonal", "symmetric"};
   for (uint32_t i = RKB_STRUCTURE_UPPER; i <= RKB_STRUCTURE_SYMMETRIC; i++)
      if (strcmp(name, names[i]) == 0) {
         *structure = i;
         return true;
      }
   return false;
}

/* An element's place in its matrix.  next goes along the row, then to the next row or matrix. */
typedef struct place {
   uint64_t row, column, rows, columns;
} place_t;

static place_t place_of(const rkb_tensor_t *tensor, uint64_t element) {
   place_t place = {.rows = (uint64_t)tensor->shape[tensor->rank - 2],
                    .columns = (uint64_t)tensor->shape[tensor->rank - 1]};
   place.row = element / place.columns % place.rows;
   place.column = element % place.columns;
   return place;
}

static void next(place_t *place) {
   if (++place->column < place->columns)
      return;
   place->column = 0;
   if (++place->row == place->rows)
      place->row = 0;
}

static uint64_t mirrored(const place_t *place, uint64_t element) {
   if (place->column >= place->row)
      return element;
   return element + (place->row - place->column) - (place->row - place->column) * place->columns;
}

uint64_t rkb_structure_source(uint32_t structure, const rkb_tensor_t *tensor, uint64_t element) {
   if (structure != RKB_STRUCTURE_SYMMETRIC)
      return element;
   const place_t place = place_of(tensor, element);
   return mirrored(&place, element);
}

void rkb_structure_draw(uint32_t structure, const rkb_tensor_t *tensor, const rkb_random_t *stream,
                        uint64_t first, uint64_t count, uint64_t *bits) {
   rkb_random_fill(stream, first, count, bits);
   if (structure != RKB_STRUCTURE_SYMMETRIC)
      return;
   place_t place = place_of(tensor, first);
   for (uint64_t i = 0; i < count; i++, next(&place))
      if (place.column < place.row)
         bits[i] = rkb_random_at(stream, mirrored(&place, first + i));
}

void rkb_structure_clear(uint32_t structure, const rkb_tensor_t *tensor, uint64_t first, uint64_t count,
                         double *numbers) {
   if (structure == RKB_STRUCTURE_NONE || structure == RKB_STRUCTURE_SYMMETRIC)
      return;
   const bool below = structure != RKB_STRUCTURE_LOWER, above = structure != RKB_STRUCTURE_UPPER;
   place_t place = place_of(tensor, first);
   for (uint64_t i = 0; i < count; i++, next(&place))
      if ((below && place.column < place.row) || (above && place.column > place.row))
         numbers[i] = 0;
}
