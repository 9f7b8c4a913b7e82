/* The points of a tune space in the model's form: each parameter is scaled to 0 .. 1, so that lengths can be
 * compared, and a parameter may have a second number: how often 2 divides it.  Owns its numbers; pure. */
#ifndef TUNING_SPACE_H
#define TUNING_SPACE_H

#include <rkb/plugin.h>
#include <stdint.h>

enum {
   TUNING_PARAMETERS_MAX = 32,
   TUNING_DIMENSIONS_MAX = 2 * TUNING_PARAMETERS_MAX,
   TUNING_POINTS_MAX = 65536 /* limit, because a model evaluates every point for each answer */
};

typedef struct tuning_space {
   uint32_t dimensions; /* the number of columns that vary; 0: all points are alike */
   uint32_t point_count;
   double *features; /* point_count rows of `dimensions` */
} tuning_space_t;

/* values: point_count rows of parameter_count finite numbers.  A parameter whose values are all positive is scaled by its
 * logarithm (block and tile sizes double), another by its value.  Positive integers that are not all powers of two have a second number: how
 * often 2 divides them, since warps, sectors and banks come in powers of two.  RKB_ERR_INVALID outside the limits; free what was filled. */
int tuning_space_fill(tuning_space_t *space, const double *values, uint32_t point_count,
                      uint32_t parameter_count, rkb_error_t *err);
void tuning_space_free(tuning_space_t *space);

static inline const double *tuning_space_at(const tuning_space_t *space, uint32_t point) {
   return space->features + (size_t)point * space->dimensions;
}

#endif
