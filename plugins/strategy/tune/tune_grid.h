/* The tune space of one source as numbered assignments, from the names and choices in a result.  Pure. */
#ifndef TUNE_GRID_H
#define TUNE_GRID_H

#include <rkb/ext/random.h>
#include "tuner/tuning_space.h"

enum {
   TUNE_CHOICES_MAX = 64,
   /* Limit of listed points; of a larger space this many are drawn, because an ask runs on the loop's
    * thread and must be short. */
   TUNE_GRID_POINTS_MAX = 16384
};

typedef struct tune_grid {
   uint32_t parameter_count;
   char *names[TUNING_PARAMETERS_MAX];
   int64_t choices[TUNING_PARAMETERS_MAX][TUNE_CHOICES_MAX];
   uint32_t choice_counts[TUNING_PARAMETERS_MAX];
   uint64_t *ordinals; /* number of each point, ascending; the last parameter changes fastest */
   uint32_t point_count;
} tune_grid_t;

/* Reads a told candidate's tune_space.  RKB_ERR_INVALID: there is no such object, or it exceeds the limits.
 * Free the grid in that case too. */
int tune_grid_read(tune_grid_t *grid, const char *tune_space, const rkb_random_api_t *random,
                   rkb_random_t *stream, rkb_error_t *err);
void tune_grid_free(tune_grid_t *grid);

/* Scales the points for a model. */
int tune_grid_fill_space(const tune_grid_t *grid, tuning_space_t *space, rkb_error_t *err);

/* The point of a whole assignment; false: no point has this assignment. */
bool tune_grid_find(const tune_grid_t *grid, const char *assignment, uint32_t *point);
/* Writes the assignment of a point as a JSON object; false: it does not fit. */
bool tune_grid_write(const tune_grid_t *grid, uint32_t point, char *out, size_t room);

#endif
