/* Sample statistics, and bootstrap intervals for them.  Pure functions of their arguments: only the values
 * decide the stream of the resampling, so the same values give the same interval everywhere.  Any thread. */
#ifndef RKB_STATISTICS_SUMMARY_H
#define RKB_STATISTICS_SUMMARY_H

#include <stdint.h>

#define RKB_BOOTSTRAP_RESAMPLES 10000
#define RKB_BOOTSTRAP_LEAST 3 /* with fewer values there is no interval */

enum rkb_statistic { RKB_STATISTIC_MEAN = 1, RKB_STATISTIC_MEDIAN };

typedef struct rkb_interval {
   double estimate;  /* NaN for no values */
   double low, high; /* 95 %; NaN for fewer than RKB_BOOTSTRAP_LEAST values */
} rkb_interval_t;

double rkb_mean(const double *values, uint32_t count); /* NaN for no values */
double rkb_median(const double *values,
                  uint32_t count); /* the mean of the two middle ones when count is even */

/* Percentile bootstrap (Efron 1979): the 2.5 % and 97.5 % quantiles of the statistic over
 * RKB_BOOTSTRAP_RESAMPLES resamples.  strata has an entry for each value, or is NULL for a single stratum.
 * Values are resampled within their stratum, so every resample has as many values of each subject as the
 * sample.  values must be finite. */
rkb_interval_t rkb_bootstrap(enum rkb_statistic statistic, const double *values, const uint32_t *strata,
                             uint32_t count);

#endif
