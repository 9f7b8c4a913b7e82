/* Forecasts the time of an untried schedule from those that were tried, with its uncertainty, before anything
 * is written.
 *
 * It is a Gaussian process over logarithms of times (Rasmussen and Williams, Gaussian Processes for Machine
 * Learning, 2006, algorithm 2.1).  Two schedules are as similar as their launches of the same work are.  The
 * covariance is a sum over these launches, weighted by their parts of the time.  So the forecast can predict a
 * short time for a schedule that combines the good launches of several kernels.  Owns copies of what it needs;
 * one thread. */
#ifndef RKB_GENERATOR_FORECAST_H
#define RKB_GENERATOR_FORECAST_H

#include "generator/graph/schedule.h"

/* The most tried schedules that are kept: the time of a fit grows with the cube of their number. */
#define RKB_FORECAST_MOST 160u

typedef struct rkb_forecast rkb_forecast_t;

/* weights: estimated times of the launches of the best schedule, schedules[best], in its order. */
rkb_forecast_t *rkb_forecast_new(const rkb_graph_t *graph, const rkb_schedule_t *best, const double *weights);
void rkb_forecast_free(rkb_forecast_t *forecast);
/* value: the logarithm of a time.  Observations past RKB_FORECAST_MOST are left out. */
void rkb_forecast_observe(rkb_forecast_t *forecast, const rkb_schedule_t *schedule, double value);
/* Fits the process to the observations.  False: nothing can be forecast. */
bool rkb_forecast_fit(rkb_forecast_t *forecast);
/* Mean and standard deviation of the logarithm of the schedule's time.  The deviation is 0 for a schedule that was observed. */
void rkb_forecast_guess(rkb_forecast_t *forecast, const rkb_schedule_t *schedule, double *mean, double *deviation);

#endif
