/* What the schedules that were tried say of one that was not: a guess of its time, with its uncertainty, before anything is written.
 *
 * A Gaussian process over logarithms of times (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, algorithm 2.1).
 * Two schedules are alike as far as launches of the same work are: the covariance is a sum over such launches, each weighed by its part
 * of the time, so that good launches of several kernels are known to be good together.  Owns copies of what it needs; one thread. */
#ifndef RKB_GENERATOR_FORECAST_H
#define RKB_GENERATOR_FORECAST_H

#include "generator/schedule.h"

#define RKB_FORECAST_MOST 160u /* tried schedules that count: a fit costs their cube */

typedef struct rkb_forecast rkb_forecast_t;

/* weights: of the launches of the best schedule, in its order, their estimated times; schedules[best]. */
rkb_forecast_t *rkb_forecast_new(const rkb_graph_t *graph, const rkb_schedule_t *best, const double *weights);
void rkb_forecast_free(rkb_forecast_t *forecast);
/* value: the logarithm of a time.  What is past RKB_FORECAST_MOST is left out. */
void rkb_forecast_observe(rkb_forecast_t *forecast, const rkb_schedule_t *schedule, double value);
/* Fits the process to what was observed.  False: nothing can be said. */
bool rkb_forecast_fit(rkb_forecast_t *forecast);
/* Mean and standard deviation of the logarithm of the schedule's time.  The deviation is 0 for a schedule that was observed. */
void rkb_forecast_guess(rkb_forecast_t *forecast, const rkb_schedule_t *schedule, double *mean, double *deviation);

#endif
