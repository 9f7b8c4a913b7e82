/* Maps measurements to cells. */
#include "cells.h"
#include <math.h>
#include <string.h>

uint32_t cell_step(const cell_feature_t *feature, double value) {
   if (!(value > 0)) /* also true for NaN */
      return 0;
   double step = strcmp(feature->scale, "log2") == 0 ? floor(log2(value + 1)) : floor(value / feature->step);
   return step < CELL_STEPS - 2 ? (uint32_t)step : CELL_STEPS - 2;
}

static uint32_t step_of(const cell_feature_t *feature, const rkb_told_t *told) {
   for (uint32_t i = 0; i < told->measurement_count; i++)
      if (strcmp(told->measurement_names[i], feature->by) == 0)
         return cell_step(feature, told->measurement_values[i]);
   return CELL_STEPS - 1;
}

uint32_t cell_of(const cell_feature_t *features, uint32_t count, const rkb_told_t *told) {
   uint32_t cell = 0;
   for (uint32_t i = 0; i < count && i < CELL_FEATURES_MAX; i++)
      cell = cell * CELL_STEPS + step_of(&features[i], told);
   return cell;
}
