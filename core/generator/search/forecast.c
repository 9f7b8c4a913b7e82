/* Forecasts of times (forecast.h).  One thread a forecast. */
#include "generator/search/forecast.h"

#include "generator/decisions/launch_decisions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/memory.h"

/* Chosen on softmax, mnist_linear_relu and mnist_conv_relu_pool with other seeds than docs/results report. */
#define NOISE 0.003          /* variance of an observation, relative to the process's */
#define LENGTH_START 2.5     /* steps in a decision's list of values */
#define LENGTH_LEAST 0.6
#define LENGTH_GREATEST 20.0
#define LENGTH_PENALTY 0.15  /* penalty for each squared logarithm of (length / start) */
#define OTHER_MAPPING 2.0    /* squared distance of two mappings of the same work */
#define LEAST_WEIGHT 0.03    /* the least weight of a launch */
#define FIT_MOST 64u         /* observations to which the lengths are fitted */

/* A launch as a point: its work, its stores, and the index of each decision in its list of values. */
typedef struct place {
   uint64_t work;
   uint32_t mapping;
   double weight;
   float at[RKB_DECISIONS];
} place_t;

typedef struct point {
   place_t *places;
   uint32_t count;
   double weight; /* a sum of weights */
} point_t;

struct rkb_forecast {
   const rkb_graph_t *graph;
   point_t best;
   point_t points[RKB_FORECAST_MOST];
   uint32_t count;
   double values[RKB_FORECAST_MOST], weights[RKB_FORECAST_MOST], mean, variance;
   double inverse[RKB_DECISIONS];                       /* inverse lengths */
   double factor[RKB_FORECAST_MOST][RKB_FORECAST_MOST]; /* lower triangle of the correlation's Cholesky factor */
   /* The same transposed, so that a forecast reads memory in order. */
   double columns[RKB_FORECAST_MOST][RKB_FORECAST_MOST];
};

static uint64_t work_of(const rkb_launch_t *launch) {
   const uint64_t roots = rkb_hash64(launch->roots, launch->root_count * sizeof *launch->roots, 1);
   return rkb_hash64(launch->anchors, launch->anchor_count * sizeof *launch->anchors, roots);
}

static float place_of(uint32_t decision, int64_t value) {
   const int64_t *values = rkb_decision_values(decision);
   float at = 0;
   for (int i = 0; values[i] >= 0; i++)
      if (values[i] <= value)
         at = (float)(i + 1);
   return at;
}

static point_t point_of(const rkb_forecast_t *forecast, const rkb_schedule_t *schedule) {
   point_t point = {rkb_allocate(schedule->count + 1, sizeof *point.places), schedule->count, 0};
   for (uint32_t l = 0; l < schedule->count; l++) {
      const rkb_launch_t *launch = &schedule->launches[l];
      place_t *place = &point.places[l];
      *place = (place_t){.work = work_of(launch), .mapping = launch->mapping, .weight = LEAST_WEIGHT};
      for (uint32_t b = 0; b < forecast->best.count; b++)
         if (forecast->best.places[b].work == place->work)
            place->weight = forecast->best.places[b].weight;
      for (uint32_t d = 0; d < RKB_DECISIONS; d++)
         if (rkb_decision_applies(forecast->graph, launch, d))
            place->at[d] = place_of(d, launch->decisions[d]);
      point.weight += place->weight;
   }
   return point;
}

rkb_forecast_t *rkb_forecast_new(const rkb_graph_t *graph, const rkb_schedule_t *best, const double *weights) {
   rkb_forecast_t *forecast = rkb_allocate(1, sizeof *forecast);
   double sum = 0;
   forecast->graph = graph;
   forecast->best = point_of(forecast, best);
   for (uint32_t l = 0; l < best->count; l++)
      sum += weights[l];
   for (uint32_t l = 0; l < best->count && sum > 0; l++)
      forecast->best.places[l].weight = fmax(weights[l] / sum, LEAST_WEIGHT);
   for (uint32_t d = 0; d < RKB_DECISIONS; d++)
      forecast->inverse[d] = 1 / LENGTH_START;
   return forecast;
}

void rkb_forecast_free(rkb_forecast_t *forecast) {
   for (uint32_t i = 0; forecast && i < forecast->count; i++)
      free(forecast->points[i].places);
   if (forecast)
      free(forecast->best.places);
   free(forecast);
}

void rkb_forecast_observe(rkb_forecast_t *forecast, const rkb_schedule_t *schedule, double value) {
   if (forecast->count == RKB_FORECAST_MOST)
      return;
   forecast->points[forecast->count] = point_of(forecast, schedule);
   forecast->values[forecast->count++] = value;
}

/* Matern 5/2 (Rasmussen and Williams, equation 4.17). */
static double matern(double squared_distance) {
   const double r = sqrt(5 * squared_distance);
   return (1 + r + r * r / 3) * exp(-r);
}

static double place_correlation(const rkb_forecast_t *forecast, const place_t *a, const place_t *b) {
   double sum = a->mapping == b->mapping ? 0 : OTHER_MAPPING;
   for (uint32_t d = 0; d < RKB_DECISIONS; d++) {
      const double apart = (a->at[d] - b->at[d]) * forecast->inverse[d];
      sum += apart * apart;
   }
   return sum > 0 ? matern(sum) : 1;
}

static double correlation(const rkb_forecast_t *forecast, const point_t *a, const point_t *b) {
   double sum = 0;
   for (uint32_t i = 0; i < a->count; i++)
      for (uint32_t j = 0; j < b->count; j++)
         if (a->places[i].work == b->places[j].work) {
            sum += a->places[i].weight * place_correlation(forecast, &a->places[i], &b->places[j]);
            break;
         }
   return sum / sqrt(a->weight * b->weight);
}

/* Computes Cholesky's factor of the first `count` observations, row by row.  False: the matrix is not
 * positive definite. */
static bool factorise(rkb_forecast_t *forecast, uint32_t count) {
   for (uint32_t i = 0; i < count; i++) {
      double *row = forecast->factor[i];
      for (uint32_t j = 0; j <= i; j++) {
         const double *other = forecast->factor[j];
         double sum = i == j ? 1 + NOISE : correlation(forecast, &forecast->points[i], &forecast->points[j]);
         for (uint32_t k = 0; k < j; k++)
            sum -= row[k] * other[k];
         if (i == j && !(sum > 0))
            return false;
         row[j] = i == j ? sqrt(sum) : sum / other[j];
      }
   }
   return true;
}

/* Computes weights = factor^-1 (values - mean); returns their squared length. */
static double solve_forward(rkb_forecast_t *forecast, uint32_t count) {
   double squares = 0;
   for (uint32_t i = 0; i < count; i++) {
      double sum = forecast->values[i] - forecast->mean;
      for (uint32_t k = 0; k < i; k++)
         sum -= forecast->factor[i][k] * forecast->weights[k];
      forecast->weights[i] = sum / forecast->factor[i][i];
      squares += forecast->weights[i] * forecast->weights[i];
   }
   return squares;
}

/* Negative logarithm of the likelihood, with the best variance, plus the penalty for unlikely lengths
 * (equation 2.30). */
static double loss(rkb_forecast_t *forecast, uint32_t count) {
   if (!factorise(forecast, count))
      return INFINITY;
   double sum = 0.5 * count * log(solve_forward(forecast, count) / count + 1e-12);
   for (uint32_t i = 0; i < count; i++)
      sum += log(forecast->factor[i][i]);
   for (uint32_t d = 0; d < RKB_DECISIONS; d++) {
      const double away = log(forecast->inverse[d] * LENGTH_START);
      sum += LENGTH_PENALTY * away * away;
   }
   return sum;
}

/* Changes one length after the other, and keeps each change that lowers the loss. */
static void fit_lengths(rkb_forecast_t *forecast, uint32_t count) {
   static const double steps[] = {0.4, 0.65, 1.5, 2.5};
   double least = loss(forecast, count);
   for (uint32_t d = 0; d < RKB_DECISIONS; d++) {
      bool varies = false;
      for (uint32_t i = 0; i < count && !varies; i++)
         for (uint32_t l = 0; l < forecast->points[i].count && !varies; l++)
            for (uint32_t m = 0; m < forecast->points[0].count && !varies; m++)
               varies = forecast->points[i].places[l].work == forecast->points[0].places[m].work &&
                        forecast->points[i].places[l].at[d] != forecast->points[0].places[m].at[d];
      for (uint32_t s = 0; varies && s < sizeof steps / sizeof *steps; s++) {
         const double before = forecast->inverse[d];
         forecast->inverse[d] = fmin(fmax(before * steps[s], 1 / LENGTH_GREATEST), 1 / LENGTH_LEAST);
         const double now = loss(forecast, count);
         if (now < least)
            least = now;
         else
            forecast->inverse[d] = before;
      }
   }
}

bool rkb_forecast_fit(rkb_forecast_t *forecast) {
   const uint32_t n = forecast->count;
   double sum = 0;
   for (uint32_t i = 0; i < n; i++)
      sum += forecast->values[i];
   forecast->mean = n ? sum / n : 0;
   fit_lengths(forecast, n < FIT_MOST ? n : FIT_MOST);
   if (!n || !factorise(forecast, n))
      return false;
   for (uint32_t i = 0; i < n; i++)
      for (uint32_t k = 0; k <= i; k++)
         forecast->columns[k][i] = forecast->factor[i][k];
   forecast->variance = fmax(solve_forward(forecast, n) / n, 1e-6);
   for (uint32_t i = n; i-- > 0;) { /* uses the transposed factor, from the last row up */
      forecast->weights[i] /= forecast->factor[i][i];
      for (uint32_t k = 0; k < i; k++)
         forecast->weights[k] -= forecast->factor[i][k] * forecast->weights[i];
   }
   return true;
}

void rkb_forecast_guess(rkb_forecast_t *forecast, const rkb_schedule_t *schedule, double *mean, double *deviation) {
   point_t point = point_of(forecast, schedule);
   double solved[RKB_FORECAST_MOST], explained = 0;
   bool known = false;
   *mean = forecast->mean;
   for (uint32_t i = 0; i < forecast->count; i++) {
      const double same = correlation(forecast, &point, &forecast->points[i]);
      known |= same > 1 - 1e-9;
      *mean += forecast->weights[i] * same;
      solved[i] = same;
   }
   /* Each entry gets the same sums, in the same order, as if it were computed row by row. */
   for (uint32_t k = 0; k < forecast->count; k++) {
      const double *column = forecast->columns[k], entry = solved[k] / column[k];
      explained += entry * entry;
      for (uint32_t i = k + 1; i < forecast->count; i++)
         solved[i] -= column[i] * entry;
   }
   *deviation = known ? 0 : sqrt(fmax(1 - explained, 1e-6) * forecast->variance);
   free(point.places);
}
