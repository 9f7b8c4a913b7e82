/* Estimates from repeated timings, and their intervals.  Pure; any thread.  docs/timing.md says why these. */
#ifndef TIME_STATISTICS_H
#define TIME_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* Samples of one plan, in clusters: a cluster is one allocation in one process.  Times within a cluster resemble each other more
 * than times of different clusters, so the bootstrap draws clusters, not samples. */
typedef struct samples {
   const double *times;  /* all clusters one after the other */
   const size_t *counts; /* samples in each cluster */
   size_t clusters;
} samples_t;

typedef struct estimate {
   double value;     /* 20 % trimmed mean */
   double low, high; /* interval at level 1 - alpha */
} estimate_t;

/* Mean of what is left after dropping the lowest and the highest fifth; sorts times.  0 for no samples. */
double trimmed_mean(double *times, size_t count);

/* Cluster bootstrap: clusters are drawn with replacement, then samples within each.  resolution is the clock's: the
 * interval is never narrower than resolution / sqrt(samples).  seed makes it repeatable.  NaN everywhere when there are no samples or memory
 * is out. */
estimate_t bootstrap_mean(const samples_t *samples, double alpha, double resolution, uint64_t seed);

/* The ratio of two means, a divided by b, from the same sittings: the bootstrap draws clusters of a and b in
 * pairs. */
estimate_t bootstrap_ratio(const samples_t *a, const samples_t *b, double alpha, double resolution,
                           uint64_t seed);

/* Returns how many rounds to make after a first one of so many milliseconds, at most `most`: slow work needs
 * fewer for an interval of the same width. */
uint32_t rounds_after(double first_ms, uint32_t most);

#endif
