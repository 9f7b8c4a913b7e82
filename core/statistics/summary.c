/* Means, medians and bootstrap intervals (summary.h).  Pure. */
#include "statistics/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/memory.h"
#include "base/random.h"

static int by_value(const void *left, const void *right) {
   const double a = *(const double *)left, b = *(const double *)right;
   return (a > b) - (a < b);
}

double rkb_mean(const double *values, uint32_t count) {
   double sum = 0;
   for (uint32_t i = 0; i < count; i++)
      sum += values[i];
   return count ? sum / count : NAN;
}

/* The median of values; puts them in order. */
static double median_of(double *values, uint32_t count) {
   if (count == 0)
      return NAN;
   qsort(values, count, sizeof *values, by_value);
   return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

double rkb_median(const double *values, uint32_t count) {
   double *copy = rkb_allocate((size_t)count + 1, sizeof *copy);
   if (count)
      memcpy(copy, values, count * sizeof *copy);
   double median = median_of(copy, count);
   free(copy);
   return median;
}

/* The values in the order of their strata; for each value the first index and the size of its stratum. */
typedef struct grouped {
   double *values;
   uint32_t *first, *size;
} grouped_t;

static grouped_t group(const double *values, const uint32_t *strata, uint32_t count) {
   grouped_t all = {.values = rkb_allocate(count, sizeof(double)),
                    .first = rkb_allocate(count, sizeof(uint32_t)),
                    .size = rkb_allocate(count, sizeof(uint32_t))};
   uint32_t used = 0;
   for (uint32_t i = 0; i < count; i++) {
      const uint32_t first = used;
      bool seen = false;
      for (uint32_t j = 0; strata && j < i; j++)
         seen = seen || strata[j] == strata[i];
      if (seen || (!strata && i > 0))
         continue;
      for (uint32_t j = i; j < count; j++)
         if (!strata || strata[j] == strata[i])
            all.values[used++] = values[j];
      for (uint32_t j = first; j < used; j++) {
         all.first[j] = first;
         all.size[j] = used - first;
      }
   }
   return all;
}

/* The quantile q of ordered values, by linear interpolation (Hyndman and Fan's type 7). */
static double quantile(const double *ordered, uint32_t count, double q) {
   const double at = q * (count - 1);
   const uint32_t below = (uint32_t)at;
   const double part = at - below;
   return below + 1 < count ? ordered[below] + part * (ordered[below + 1] - ordered[below]) : ordered[below];
}

rkb_interval_t rkb_bootstrap(enum rkb_statistic statistic, const double *values, const uint32_t *strata,
                             uint32_t count) {
   const bool mean = statistic == RKB_STATISTIC_MEAN;
   rkb_interval_t interval = {mean ? rkb_mean(values, count) : rkb_median(values, count), NAN, NAN};
   if (count < RKB_BOOTSTRAP_LEAST)
      return interval;
   grouped_t all = group(values, strata, count);
   double *draws = rkb_allocate(count, sizeof *draws);
   double *estimates = rkb_allocate(RKB_BOOTSTRAP_RESAMPLES, sizeof *estimates);
   rkb_random_t stream =
      rkb_random_stream(rkb_hash64(all.values, count * sizeof *all.values, 0), "bootstrap", 0, 0);
   for (uint32_t r = 0; r < RKB_BOOTSTRAP_RESAMPLES; r++) {
      for (uint32_t i = 0; i < count; i++)
         draws[i] = all.values[all.first[i] + rkb_random_below(&stream, all.size[i])];
      estimates[r] = mean ? rkb_mean(draws, count) : median_of(draws, count);
   }
   qsort(estimates, RKB_BOOTSTRAP_RESAMPLES, sizeof *estimates, by_value);
   interval.low = quantile(estimates, RKB_BOOTSTRAP_RESAMPLES, 0.025);
   interval.high = quantile(estimates, RKB_BOOTSTRAP_RESAMPLES, 0.975);
   free(estimates);
   free(draws);
   free(all.values);
   free(all.first);
   free(all.size);
   return interval;
}
