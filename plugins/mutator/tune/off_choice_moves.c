/* A pool of points on ladders of values, and the choice of the most promising one (off_choice_moves.h). */
#include "off_choice_moves.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "same_text_family.h"
#include "shared/manifest_text.h"
#include "tuner/tuner.h"

enum {
   POOL = 192,
   STEPS_MAX = 3,
   LADDER_MAX = 64,
   VALUE_MAX = 1024, /* as in rkb.mutator.edit's block_shape */
   SIZE_LEAST = 4    /* a parameter whose greatest choice is less is a switch and no size */
};

typedef struct ladder {
   uint32_t parameter, count;
   int64_t value[LADDER_MAX + 2]; /* ascending; two more for the new ends */
} ladder_t;

typedef struct ladders {
   uint32_t count; /* those with at least two values */
   ladder_t of[TUNING_PARAMETERS_MAX];
} ladders_t;

static int compare(const void *left, const void *right) {
   const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
   return (a > b) - (a < b);
}

static void add_value(ladder_t *ladder, int64_t value) {
   for (uint32_t i = 0; i < ladder->count; i++)
      if (ladder->value[i] == value)
         return;
   if (ladder->count < LADDER_MAX)
      ladder->value[ladder->count++] = value;
}

/* Adds half the least and twice the greatest value of a size.  Threads stay multiples of a warp. */
static void add_ends(const rkb_manifest_t *manifest, ladder_t *ladder) {
   const int64_t least = ladder->value[0], greatest = ladder->value[ladder->count - 1];
   const int64_t unit = manifest_counts_threads(manifest, manifest->tune[ladder->parameter].name) ? 32 : 1;
   if (least < 1 || greatest < SIZE_LEAST)
      return;
   if (greatest <= VALUE_MAX / 2)
      ladder->value[ladder->count++] = greatest * 2;
   if (least % (2 * unit) == 0)
      ladder->value[ladder->count++] = least / 2;
   qsort(ladder->value, ladder->count, sizeof ladder->value[0], compare);
}

static void climb(const rkb_manifest_t *manifest, const wide_point_t *points, uint32_t point_count,
                  ladders_t *ladders) {
   ladders->count = 0;
   for (uint32_t p = 0; p < manifest->tune_count && ladders->count + 1 < TUNING_PARAMETERS_MAX; p++) {
      ladder_t *ladder = &ladders->of[ladders->count];
      *ladder = (ladder_t){.parameter = p};
      if (manifest->tune[p].choice_count < 2) /* its author wants it as it is */
         continue;
      for (uint32_t c = 0; c < manifest->tune[p].choice_count; c++)
         add_value(ladder, manifest->tune[p].choices[c]);
      for (uint32_t i = 0; i < point_count; i++)
         add_value(ladder, points[i].value[p]);
      qsort(ladder->value, ladder->count, sizeof ladder->value[0], compare);
      add_ends(manifest, ladder);
      ladders->count++;
   }
}

/* One step up or down from the value that is there; at an end, the only way. */
static int64_t step_on(const ladder_t *ladder, int64_t value, bool up) {
   uint32_t at = 0;
   while (at + 1 < ladder->count && ladder->value[at] < value)
      at++;
   if (up)
      return at + 1 < ladder->count ? ladder->value[at + 1] : ladder->value[at - 1];
   return at > 0 ? ladder->value[at - 1] : ladder->value[at + 1];
}

static bool is_known(const wide_point_t *points, uint32_t count, const int64_t *values, uint32_t parameters) {
   for (uint32_t i = 0; i < count; i++)
      if (points[i].own && memcmp(points[i].value, values, parameters * sizeof *values) == 0)
         return true;
   return false;
}

/* The values to start from: the parent's, those of the best point (which may be of another text), or those of any point with a result. */
static const int64_t *origin(const rkb_random_api_t *random, rkb_random_t *stream, const wide_point_t *points,
                             uint32_t count, uint32_t turn, const int64_t *parent) {
   const wide_point_t *best = NULL;
   for (uint32_t i = 0; i < count; i++)
      if (!isnan(points[i].objective) && (!best || points[i].objective < best->objective))
         best = &points[i];
   if (!best || turn % 3 == 0)
      return parent;
   if (turn % 3 == 1)
      return best->value;
   const wide_point_t *drawn = &points[random->below(stream, count)];
   return isnan(drawn->objective) ? best->value : drawn->value;
}

/* Writes new points behind the known ones, and returns how many there are together. */
static uint32_t fill_pool(const rkb_random_api_t *random, rkb_random_t *stream,
                          const rkb_manifest_t *manifest, const ladders_t *ladders, double length,
                          const int64_t *parent, wide_point_t *points, uint32_t known) {
   uint32_t count = known;
   for (uint32_t turn = 0; turn < POOL; turn++) {
      wide_point_t *next = &points[count];
      memcpy(next->value, origin(random, stream, points, known, turn, parent), sizeof next->value);
      next->own = true;
      next->length = length;
      next->objective = NAN;
      const uint32_t steps = 1 + (uint32_t)random->below(stream, STEPS_MAX);
      for (uint32_t s = 0; s < steps; s++) {
         const ladder_t *ladder = &ladders->of[random->below(stream, ladders->count)];
         int64_t *value = &next->value[ladder->parameter];
         *value = step_on(ladder, *value, random->below(stream, 2) == 1);
      }
      if (memcmp(next->value, parent, manifest->tune_count * sizeof *parent) != 0 &&
          !is_known(points, count, next->value, manifest->tune_count))
         count++;
   }
   return count;
}

/* Asks the Gaussian process for the point of the pool that promises most; the known points come first. */
static int choose(const rkb_random_api_t *random, const rkb_random_t *stream, const ladders_t *ladders,
                  const wide_point_t *points, uint32_t known, uint32_t count, uint32_t *chosen,
                  rkb_error_t *err) {
   tuning_space_t space = {0};
   tuner_t *tuner = NULL;
   const uint32_t columns = ladders->count + 1;
   double *values = malloc(sizeof *values * count * columns);
   if (!values)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %u points", count);
   for (uint32_t i = 0; i < count; i++) {
      for (uint32_t l = 0; l < ladders->count; l++)
         values[(size_t)i * columns + l] = (double)points[i].value[ladders->of[l].parameter];
      values[(size_t)i * columns + ladders->count] =
         points[i].length + 0.5; /* not a whole number: halving it means nothing */
   }
   int status = tuning_space_fill(&space, values, count, columns, err);
   if (status == RKB_OK)
      status = tuner_create(&space, random, *stream, &tuner, err);
   for (uint32_t i = 0; i < known && status == RKB_OK; i++)
      tuner_tell(tuner, i, points[i].objective);
   if (status == RKB_OK && !tuner_next(tuner, chosen))
      status = rkb_fail(err, RKB_ERR_INTERNAL, "no point is left of %u", count - known);
   tuner_destroy(tuner);
   tuning_space_free(&space);
   free(values);
   return status;
}

int off_choice_move(const rkb_random_api_t *random, rkb_random_t *stream, const rkb_manifest_t *manifest,
                    const wide_point_t *points, uint32_t point_count, double length,
                    int64_t values[ASSIGNMENT_MAX], bool *moved, rkb_error_t *err) {
   wide_point_t *pool = calloc((size_t)point_count + POOL, sizeof *pool);
   ladders_t *ladders = calloc(1, sizeof *ladders);
   int status = pool && ladders
                   ? RKB_OK
                   : rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate a pool of %u points", point_count + POOL);
   *moved = false;
   if (status == RKB_OK) {
      memcpy(pool, points, point_count * sizeof *pool);
      climb(manifest, points, point_count, ladders);
   }
   if (status == RKB_OK && ladders->count > 0) {
      const uint32_t count = fill_pool(random, stream, manifest, ladders, length, values, pool, point_count);
      uint32_t chosen = 0;
      if (count > point_count) {
         status = choose(random, stream, ladders, pool, point_count, count, &chosen, err);
         *moved = status == RKB_OK;
      }
      if (*moved)
         memcpy(values, pool[chosen].value, sizeof pool[chosen].value);
   }
   free(ladders);
   free(pool);
   return status;
}
