/* Gaussian process regression (gaussian_process.h). */
#include "gaussian_process.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRIDE GAUSSIAN_OBSERVATIONS_MAX
/* Chosen on the spaces of A100, A4000 and A6000 (docs/results/2026-11-23-tuning). */
#define NOISE 1e-3          /* variance of an observation, relative to the process's */
#define LENGTH_START 0.5
#define LENGTH_TYPICAL 0.6  /* where the penalty of a length is zero */
#define LENGTH_PENALTY 0.15 /* penalty per squared logarithm */
#define LENGTH_LEAST 0.08
#define LENGTH_GREATEST 6.0
#define VARIANCE_LEAST 1e-12

int gaussian_process_create(gaussian_process_t *process, uint32_t dimensions, rkb_error_t *err) {
   *process = (gaussian_process_t){.dimensions = dimensions, .variance = 1};
   size_t cells = (size_t)STRIDE * (dimensions + STRIDE + 2);
   process->at = calloc(cells, sizeof *process->at);
   if (!process->at)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate a model of %zu numbers", cells);
   process->factor = process->at + (size_t)STRIDE * dimensions;
   process->values = process->factor + (size_t)STRIDE * STRIDE;
   process->weights = process->values + STRIDE;
   for (uint32_t j = 0; j < dimensions; j++)
      process->lengths[j] = LENGTH_START;
   return RKB_OK;
}

void gaussian_process_destroy(gaussian_process_t *process) {
   free(process->at);
   *process = (gaussian_process_t){0};
}

void gaussian_process_clear(gaussian_process_t *process) {
   process->count = 0;
}

void gaussian_process_observe(gaussian_process_t *process, const double *at, double value) {
   if (process->count == STRIDE)
      return;
   memcpy(process->at + (size_t)process->count * process->dimensions, at,
          process->dimensions * sizeof *at);
   process->values[process->count++] = value;
}

static double correlation(double squared_distance) {
   double r = sqrt(5 * squared_distance);
   return (1 + r + r * r / 3) * exp(-r);
}

static double squared_distance(const gaussian_process_t *process, const double *inverse, const double *left,
                               const double *right) {
   double sum = 0;
   for (uint32_t j = 0; j < process->dimensions; j++) {
      double d = (left[j] - right[j]) * inverse[j];
      sum += d * d;
   }
   return sum;
}

static void invert_lengths(const gaussian_process_t *process, double inverse[TUNING_DIMENSIONS_MAX]) {
   for (uint32_t j = 0; j < process->dimensions; j++)
      inverse[j] = 1 / process->lengths[j];
}

/* Factorises row by row (Golub and Van Loan, Matrix Computations, section 4.2).  False: the matrix is not
 * positive definite. */
static bool factorise(gaussian_process_t *process) {
   double inverse[TUNING_DIMENSIONS_MAX];
   invert_lengths(process, inverse);
   for (uint32_t i = 0; i < process->count; i++) {
      double *row = process->factor + (size_t)i * STRIDE;
      const double *at = process->at + (size_t)i * process->dimensions;
      for (uint32_t j = 0; j <= i; j++) {
         const double *other = process->factor + (size_t)j * STRIDE;
         double sum = i == j ? 1 + NOISE
                             : correlation(squared_distance(process, inverse, at,
                                                            process->at + (size_t)j * process->dimensions));
         for (uint32_t k = 0; k < j; k++)
            sum -= row[k] * other[k];
         if (i == j && !(sum > 0))
            return false;
         row[j] = i == j ? sqrt(sum) : sum / other[j];
      }
   }
   return true;
}

/* weights = factor^-1 values; returns their squared length. */
static double solve_forward(gaussian_process_t *process) {
   double squares = 0;
   for (uint32_t i = 0; i < process->count; i++) {
      const double *row = process->factor + (size_t)i * STRIDE;
      double sum = process->values[i];
      for (uint32_t k = 0; k < i; k++)
         sum -= row[k] * process->weights[k];
      process->weights[i] = sum / row[i];
      squares += process->weights[i] * process->weights[i];
   }
   return squares;
}

/* The negative logarithm of the likelihood at the best variance, plus a penalty for unlikely lengths
 * (Rasmussen and Williams, equation 2.30). */
static double loss(gaussian_process_t *process) {
   if (!factorise(process))
      return INFINITY;
   double sum = 0.5 * process->count * log(solve_forward(process) / process->count + VARIANCE_LEAST);
   for (uint32_t i = 0; i < process->count; i++)
      sum += log(process->factor[(size_t)i * STRIDE + i]);
   for (uint32_t j = 0; j < process->dimensions; j++) {
      double away = log(process->lengths[j] / LENGTH_TYPICAL);
      sum += LENGTH_PENALTY * away * away;
   }
   return sum;
}

void gaussian_process_fit_lengths(gaussian_process_t *process, const uint32_t *order) {
   static const double steps[] = {0.5, 0.71, 1.41, 2.0};
   double least = loss(process);
   for (uint32_t j = 0; j < process->dimensions; j++) {
      double *length = &process->lengths[order[j]];
      for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
         double before = *length;
         *length = fmin(fmax(before * steps[s], LENGTH_LEAST), LENGTH_GREATEST);
         double now = loss(process);
         if (now < least)
            least = now;
         else
            *length = before;
      }
   }
}

bool gaussian_process_solve(gaussian_process_t *process) {
   if (process->count == 0 || !factorise(process))
      return false;
   process->variance = fmax(solve_forward(process) / process->count, VARIANCE_LEAST);
   /* Solves with the transposed factor, from the last row up. */
   for (uint32_t i = process->count; i-- > 0;) {
      double *row = process->factor + (size_t)i * STRIDE;
      process->weights[i] /= row[i];
      for (uint32_t k = 0; k < i; k++)
         process->weights[k] -= row[k] * process->weights[i];
   }
   return true;
}

void gaussian_process_predict(const gaussian_process_t *process, const double *points, uint32_t count,
                              double *means, double *deviations) {
   double solved[STRIDE][GAUSSIAN_BLOCK], inverse[TUNING_DIMENSIONS_MAX];
   double mean[GAUSSIAN_BLOCK] = {0}, explained[GAUSSIAN_BLOCK] = {0};
   invert_lengths(process, inverse);
   for (uint32_t i = 0; i < process->count; i++) {
      const double *row = process->factor + (size_t)i * STRIDE;
      const double *at = process->at + (size_t)i * process->dimensions;
      for (uint32_t p = 0; p < GAUSSIAN_BLOCK; p++) {
         const double *point = points + (size_t)(p < count ? p : 0) * process->dimensions;
         solved[i][p] = correlation(squared_distance(process, inverse, at, point));
         mean[p] += process->weights[i] * solved[i][p];
      }
      for (uint32_t k = 0; k < i; k++)
         for (uint32_t p = 0; p < GAUSSIAN_BLOCK; p++)
            solved[i][p] -= row[k] * solved[k][p];
      for (uint32_t p = 0; p < GAUSSIAN_BLOCK; p++) {
         solved[i][p] /= row[i];
         explained[p] += solved[i][p] * solved[i][p];
      }
   }
   for (uint32_t p = 0; p < count; p++) {
      means[p] = mean[p];
      deviations[p] = sqrt(fmax(1 - explained[p], 1e-9) * process->variance);
   }
}
