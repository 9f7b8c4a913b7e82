/* Scaling of a tune space (tuning_space.h). */
#include "tuning_space.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Chosen on the spaces of A100, A4000 and A6000 (docs/results/2026-11-23-tuning). */
#define HALVINGS_SPAN 0.65 /* the range of a column of halvings; a parameter's own column has the range 1 */

typedef struct column {
   uint32_t parameter;
   bool halvings; /* whether the column counts how often 2 divides the parameter, instead of its value */
   double least, greatest;
} column_t;

static double halvings_of(double value) {
   double count = 0;
   for (; fmod(value, 2) == 0; value /= 2)
      count++;
   return count;
}

static double number_of(const column_t *column, double value) {
   return column->halvings ? halvings_of(value) : value;
}

/* Whether the number of times that 2 divides a parameter carries more information than its logarithm. */
static bool has_halvings(const double *values, uint32_t points, uint32_t parameters, uint32_t parameter) {
   bool powers = true;
   for (uint32_t i = 0; i < points; i++) {
      double value = values[(size_t)i * parameters + parameter];
      if (!(value >= 1) || value > 0x1p53 || value != floor(value))
         return false;
      powers = powers && value == exp2(halvings_of(value));
   }
   return !powers;
}

/* Adds a column if its numbers vary.  False: a value is not finite. */
static bool add_column(const double *values, uint32_t points, uint32_t parameters, column_t column,
                       column_t *columns, uint32_t *count) {
   for (uint32_t i = 0; i < points; i++) {
      double value = values[(size_t)i * parameters + column.parameter];
      if (!isfinite(value))
         return false;
      column.least = fmin(column.least, number_of(&column, value));
      column.greatest = fmax(column.greatest, number_of(&column, value));
   }
   if (column.greatest > column.least)
      columns[(*count)++] = column;
   return true;
}

/* Finds the columns.  False: a value is not finite. */
static bool find_columns(const double *values, uint32_t points, uint32_t parameters,
                         column_t columns[TUNING_DIMENSIONS_MAX], uint32_t *count) {
   *count = 0;
   for (uint32_t j = 0; j < parameters; j++)
      if (!add_column(values, points, parameters, (column_t){j, false, INFINITY, -INFINITY}, columns, count))
         return false;
   for (uint32_t j = 0; j < parameters; j++)
      if (has_halvings(values, points, parameters, j))
         add_column(values, points, parameters, (column_t){j, true, INFINITY, -INFINITY}, columns, count);
   return true;
}

static double scaled(const column_t *column, double value) {
   if (column->halvings)
      return HALVINGS_SPAN * (halvings_of(value) - column->least) / (column->greatest - column->least);
   if (column->least > 0)
      return log(value / column->least) / log(column->greatest / column->least);
   return (value / 2 - column->least / 2) /
          (column->greatest / 2 - column->least / 2); /* halves, so that the difference cannot overflow */
}

int tuning_space_fill(tuning_space_t *space, const double *values, uint32_t point_count,
                      uint32_t parameter_count, rkb_error_t *err) {
   column_t columns[TUNING_DIMENSIONS_MAX];
   *space = (tuning_space_t){0};
   if (point_count == 0 || point_count > TUNING_POINTS_MAX || parameter_count > TUNING_PARAMETERS_MAX)
      return rkb_fail(err, RKB_ERR_INVALID, "a tune space has 1 to %d points and at most %d parameters",
                      TUNING_POINTS_MAX, TUNING_PARAMETERS_MAX);
   if (!find_columns(values, point_count, parameter_count, columns, &space->dimensions))
      return rkb_fail(err, RKB_ERR_INVALID, "a tune value is no finite number");
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
