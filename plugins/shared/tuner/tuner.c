/* Expected improvement over all points of a tune space (tuner.h). */
#include "tuner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "gaussian_process.h"

/* Chosen on the spaces of A100, A4000 and A6000 (docs/results/2026-11-23-tuning). */
enum {
   START_POINTS = 6,      /* points spread over the space before there is a model */
   START_CANDIDATES = 64, /* random points, of which the one farthest from the others is taken */
   REFIT_EVERY = 3        /* observations between two fits of the lengths */
};

/* Of a cost above average, only this part of its distance counts, because the exact cost of a slow point
 * does not help to find the best one. */
#define SLOW_PART 0.6

enum { UNTOUCHED, ASKED, TOLD };

typedef struct observation {
   uint32_t point;
   bool told;   /* false: the point was asked for, and its result is outstanding */
   double cost; /* NAN: failed */
} observation_t;

struct tuner {
   const tuning_space_t *space;
   const rkb_random_api_t *random;
   rkb_random_t stream;
   gaussian_process_t process;
   unsigned char *state;        /* state of each point */
   observation_t *observations; /* in the order of asking; room for every point */
   uint32_t count;
   uint32_t told;
   uint32_t fitted_at; /* count at the last fit of the lengths, or 0 */
};

int tuner_create(const tuning_space_t *space, const rkb_random_api_t *random, rkb_random_t stream,
                 tuner_t **out, rkb_error_t *err) {
   tuner_t *tuner = calloc(1, sizeof *tuner);
   if (!tuner)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate a tuner");
   tuner->space = space;
   tuner->random = random;
   tuner->stream = stream;
   tuner->state = calloc(space->point_count, sizeof *tuner->state);
   tuner->observations = calloc(space->point_count, sizeof *tuner->observations);
   int status = gaussian_process_create(&tuner->process, space->dimensions, err);
   if (status == RKB_OK && (!tuner->state || !tuner->observations))
      status = rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate a tuner of %u points", space->point_count);
   if (status != RKB_OK) {
      tuner_destroy(tuner);
      return status;
   }
   *out = tuner;
   return RKB_OK;
}

void tuner_destroy(tuner_t *tuner) {
   if (!tuner)
      return;
   gaussian_process_destroy(&tuner->process);
   free(tuner->observations);
   free(tuner->state);
   free(tuner);
}

void tuner_tell(tuner_t *tuner, uint32_t point, double cost) {
   if (point >= tuner->space->point_count || tuner->state[point] == TOLD)
      return;
   uint32_t i = 0;
   if (tuner->state[point] == ASKED)
      while (tuner->observations[i].point != point)
         i++;
   else
      i = tuner->count++;
   tuner->observations[i] = (observation_t){point, true, isfinite(cost) ? cost : NAN};
   tuner->state[point] = TOLD;
   tuner->told++;
}

/* Draws the untouched point at or after a random one, which is uniform while few are touched.  There is at
 * least one. */
static uint32_t draw_untouched(tuner_t *tuner) {
   uint32_t point = (uint32_t)tuner->random->below(&tuner->stream, tuner->space->point_count);
   while (tuner->state[point] != UNTOUCHED)
      point = (point + 1) % tuner->space->point_count;
   return point;
}

static double distance_to_observed(const tuner_t *tuner, uint32_t point) {
   const double *at = tuning_space_at(tuner->space, point);
   double nearest = INFINITY;
   for (uint32_t i = 0; i < tuner->count; i++) {
      const double *other = tuning_space_at(tuner->space, tuner->observations[i].point);
      double sum = 0;
      for (uint32_t j = 0; j < tuner->space->dimensions; j++)
         sum += (at[j] - other[j]) * (at[j] - other[j]);
      nearest = fmin(nearest, sum);
   }
   return nearest;
}

static uint32_t spread_out(tuner_t *tuner) {
   uint32_t farthest = draw_untouched(tuner);
   double distance = distance_to_observed(tuner, farthest);
   for (uint32_t i = 1; tuner->count > 0 && i < START_CANDIDATES; i++) {
      uint32_t point = draw_untouched(tuner);
      double d = distance_to_observed(tuner, point);
      if (d > distance) {
         distance = d;
         farthest = point;
      }
   }
   return farthest;
}

/* Costs as the model gets them: logarithms if all are positive, failures counted as the worst, mean 0 and
 * deviation 1, and the part above the mean compressed. */
typedef struct scale {
   bool logarithmic;
   double worst, mean, deviation, best; /* best: the lowest cost after scaling */
} scale_t;

static double raw_value(const scale_t *scale, double cost) {
   if (isnan(cost))
      return scale->worst;
   return scale->logarithmic ? log(cost) : cost;
}

static double scaled(const scale_t *scale, double cost) {
   double value = (raw_value(scale, cost) - scale->mean) / scale->deviation;
   return value > 0 ? SLOW_PART * value : value;
}

/* False when every told point failed. */
static bool find_scale(const tuner_t *tuner, scale_t *scale) {
   double least = INFINITY, greatest = -INFINITY, sum = 0, squares = 0;
   for (uint32_t i = 0; i < tuner->count; i++) {
      const observation_t *seen = &tuner->observations[i];
      if (seen->told && !isnan(seen->cost)) {
         least = fmin(least, seen->cost);
         greatest = fmax(greatest, seen->cost);
      }
   }
   if (!(least <= greatest))
      return false;
   *scale = (scale_t){.logarithmic = least > 0, .deviation = 1};
   scale->worst = raw_value(scale, greatest);
   for (uint32_t i = 0; i < tuner->count; i++)
      if (tuner->observations[i].told)
         sum += raw_value(scale, tuner->observations[i].cost);
   scale->mean = sum / tuner->told;
   for (uint32_t i = 0; i < tuner->count; i++)
      if (tuner->observations[i].told) {
         double away = raw_value(scale, tuner->observations[i].cost) - scale->mean;
         squares += away * away;
      }
   scale->deviation = sqrt(squares / tuner->told) + 1e-9;
   scale->best = scaled(scale, least);
   return true;
}

/* Points without a result count as average.  If there are more points than the model holds, the cheapest are
 * taken, because they show where the optimum is. */
static int compare_values(const void *left, const void *right) {
   double a = *(const double *)left, b = *(const double *)right;
   return (a > b) - (a < b);
}

static int observe_all(tuner_t *tuner, const scale_t *scale) {
   double *values = malloc(2 * (size_t)tuner->count * sizeof *values), threshold = INFINITY;
   if (!values)
      return RKB_ERR_NOMEM;
   for (uint32_t i = 0; i < tuner->count; i++)
      values[i] = tuner->observations[i].told ? scaled(scale, tuner->observations[i].cost) : 0;
   if (tuner->count > GAUSSIAN_OBSERVATIONS_MAX) {
      double *sorted = values + tuner->count;
      memcpy(sorted, values, tuner->count * sizeof *values);
      qsort(sorted, tuner->count, sizeof *sorted, compare_values);
      threshold = sorted[GAUSSIAN_OBSERVATIONS_MAX - 1];
   }
   gaussian_process_clear(&tuner->process);
   for (uint32_t i = 0; i < tuner->count; i++)
      if (values[i] <= threshold)
         gaussian_process_observe(&tuner->process,
                                  tuning_space_at(tuner->space, tuner->observations[i].point), values[i]);
   free(values);
   return RKB_OK;
}

static void fit(tuner_t *tuner) {
   uint32_t order[TUNING_DIMENSIONS_MAX], count = tuner->space->dimensions;
   for (uint32_t j = 0; j < count; j++) {
      uint32_t k = (uint32_t)tuner->random->below(&tuner->stream, j + 1);
      order[j] = order[k];
      order[k] = j;
   }
   gaussian_process_fit_lengths(&tuner->process, order);
   tuner->fitted_at = tuner->count;
}

static double expected_improvement(double best, double mean, double deviation) {
   double u = (best - mean) / deviation;
   return deviation * (u * 0.5 * erfc(-u * M_SQRT1_2) + exp(-0.5 * u * u) * 0.3989422804014327);
}

static bool most_promising(const tuner_t *tuner, double best, uint32_t *out) {
   const tuning_space_t *space = tuner->space;
   double greatest = -1;
   for (uint32_t first = 0; first < space->point_count; first += GAUSSIAN_BLOCK) {
      double means[GAUSSIAN_BLOCK], deviations[GAUSSIAN_BLOCK];
      uint32_t count = space->point_count - first;
      count = count < GAUSSIAN_BLOCK ? count : GAUSSIAN_BLOCK;
      gaussian_process_predict(&tuner->process, tuning_space_at(space, first), count, means, deviations);
      for (uint32_t p = 0; p < count; p++) {
         double gain = expected_improvement(best, means[p], deviations[p]);
         if (tuner->state[first + p] == UNTOUCHED && gain > greatest) {
            greatest = gain;
            *out = first + p;
         }
      }
   }
   return greatest >= 0;
}

static bool choose_by_model(tuner_t *tuner, uint32_t *point) {
   scale_t scale;
   if (!find_scale(tuner, &scale) || observe_all(tuner, &scale) != RKB_OK)
      return false;
   if (tuner->fitted_at == 0 || tuner->count >= tuner->fitted_at + REFIT_EVERY)
      fit(tuner);
   return gaussian_process_solve(&tuner->process) && most_promising(tuner, scale.best, point);
}

bool tuner_next(tuner_t *tuner, uint32_t *point) {
   if (tuner->count == tuner->space->point_count)
      return false;
   if (tuner->count < START_POINTS)
      *point = spread_out(tuner);
   else if (!choose_by_model(tuner, point))
      *point = draw_untouched(tuner);
   tuner->state[*point] = ASKED;
   tuner->observations[tuner->count++] = (observation_t){.point = *point};
   return true;
}
