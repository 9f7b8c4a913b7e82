/* Scaling of a tune space (tuning_space.h). */
#include "tuning_space.h"

#include <math.h>
#include <stdlib.h>

typedef struct column {
   uint32_t parameter;
   double least, greatest;
} column_t;

/* Returns the number of parameters that vary, or -1 with a value that is no number. */
static int find_columns(const double *values, uint32_t points, uint32_t parameters,
                        column_t columns[TUNING_PARAMETERS_MAX]) {
   int count = 0;
   for (uint32_t j = 0; j < parameters; j++) {
      column_t column = {j, values[j], values[j]};
      for (uint32_t i = 0; i < points; i++) {
         double value = values[(size_t)i * parameters + j];
         if (!isfinite(value))
            return -1;
         column.least = fmin(column.least, value);
         column.greatest = fmax(column.greatest, value);
      }
      if (column.greatest > column.least)
         columns[count++] = column;
   }
   return count;
}

static double scaled(const column_t *column, double value) {
   if (column->least > 0)
      return log(value / column->least) / log(column->greatest / column->least);
   return (value / 2 - column->least / 2) / (column->greatest / 2 - column->least / 2); /* halves cannot overflow */
}

int tuning_space_fill(tuning_space_t *space, const double *values, uint32_t point_count,
                      uint32_t parameter_count, rkb_error_t *err) {
   column_t columns[TUNING_PARAMETERS_MAX];
   *space = (tuning_space_t){0};
   if (point_count == 0 || point_count > TUNING_POINTS_MAX || parameter_count > TUNING_PARAMETERS_MAX)
      return rkb_fail(err, RKB_ERR_INVALID, "a tune space has 1 to %d points and at most %d parameters",
                      TUNING_POINTS_MAX, TUNING_PARAMETERS_MAX);
   int varying = find_columns(values, point_count, parameter_count, columns);
   if (varying < 0)
      return rkb_fail(err, RKB_ERR_INVALID, "a tune value is no finite number");
   space->dimensions = (uint32_t)varying;
   space->point_count = point_count;
   space->features = calloc((size_t)point_count * (space->dimensions + 1), sizeof *space->features);
   if (!space->features)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %u points", point_count);
   for (uint32_t i = 0; i < point_count; i++)
      for (uint32_t j = 0; j < space->dimensions; j++)
         space->features[(size_t)i * space->dimensions + j] =
            scaled(&columns[j], values[(size_t)i * parameter_count + columns[j].parameter]);
   return RKB_OK;
}

void tuning_space_free(tuning_space_t *space) {
   free(space->features);
   *space = (tuning_space_t){0};
}
