/* A Gaussian process over points in the unit cube: predicts every point from a few observations.
 *
 * Covariance: Matern 5/2 with one length per dimension (Rasmussen and Williams, Gaussian Processes for
 * Machine Learning, 2006, equation 4.17).  The mean is zero, and the variance is the one of greatest
 * likelihood.  Owns its matrices; pure. */
#ifndef GAUSSIAN_PROCESS_H
#define GAUSSIAN_PROCESS_H

#include <rkb/plugin.h>
#include "tuning_space.h"

enum {
   GAUSSIAN_OBSERVATIONS_MAX = 200, /* the cost of a fit grows with the cube of this number */
   GAUSSIAN_BLOCK = 16              /* points predicted side by side, for the vectoriser */
};

typedef struct gaussian_process {
   uint32_t dimensions;
   uint32_t count; /* number of observations */
   double lengths[TUNING_DIMENSIONS_MAX];
   double variance;
   double *at;      /* count rows of `dimensions` */
   double *values;  /* count values */
   double *factor;  /* lower triangle of the correlation's Cholesky factor, rows of GAUSSIAN_OBSERVATIONS_MAX */
   double *weights; /* the correlation's inverse times the values */
} gaussian_process_t;

int gaussian_process_create(gaussian_process_t *process, uint32_t dimensions, rkb_error_t *err);
void gaussian_process_destroy(gaussian_process_t *process);

/* clear drops all observations; observe adds one.  Beyond GAUSSIAN_OBSERVATIONS_MAX an observation is ignored. */
void gaussian_process_clear(gaussian_process_t *process);
void gaussian_process_observe(gaussian_process_t *process, const double *at, double value);

/* Takes coordinate steps in the lengths, in the given order of dimensions, while the penalised likelihood rises. */
void gaussian_process_fit_lengths(gaussian_process_t *process, const uint32_t *order);

/* Prepares predictions.  False: the matrix is singular in double precision, and nothing can be predicted. */
bool gaussian_process_solve(gaussian_process_t *process);

/* Predicts means and standard deviations of `count` <= GAUSSIAN_BLOCK points, given as rows of `dimensions`. */
void gaussian_process_predict(const gaussian_process_t *process, const double *points, uint32_t count,
                              double *means, double *deviations);

#endif
