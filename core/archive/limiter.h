/* Reads the detail of a measured or predicted time: what limits the candidate.  Any thread. */
#ifndef RKB_ARCHIVE_LIMITER_H
#define RKB_ARCHIVE_LIMITER_H

#include <jansson.h>
#include <stdbool.h>
#include "archive/archive.h"

typedef struct rkb_limiter {
   char kernel[160];     /* name of the launch that takes longest */
   char sentence[256];   /* "global memory, 70 % of its time at peak" */
   char bottleneck[64];  /* "uncoalesced access", or "" when the profiler names none */
   double share;         /* share of the launch's time, 0 to 1; 0: not reported */
   bool counted;         /* hardware counters gave it; false: it was predicted, or only recorded */
   char moves[2][320];   /* changes that may remove the bottleneck, or "" */
} rkb_limiter_t;

/* From a measurement's detail, finds what limits the launch that takes longest.  False when the detail does not say. */
bool rkb_limiter_of(const char *detail, rkb_limiter_t *limiter);
/* The same for the slowest case among the candidate's measurements of that name.  name NULL: any measurement
 * with such a detail, and counted ones come before predicted ones. */
bool rkb_limiter_of_slowest(const rkb_measurement_record_t *measurements, uint32_t count, const char *name,
                            rkb_limiter_t *limiter);

#endif
