/* The hardware's counters that profilers read, by the names that CUPTI and Nsight Compute share.  From them
 * it finds what limits a launch, in words, and what treats that (advice.h).  Pure; any thread. */
#ifndef PROFILER_HARDWARE_COUNTERS_H
#define PROFILER_HARDWARE_COUNTERS_H

#include <jansson.h>
#include "launch_limiter.h"

enum counter {
   COUNTER_TIME, /* ns */
   /* In percent of the unit's peak. */
   COUNTER_DRAM,
   COUNTER_L2,
   COUNTER_SHARED,
   COUNTER_LOAD_STORE,
   COUNTER_ISSUE,
   COUNTER_FMA,
   COUNTER_FP64,
   COUNTER_HALF,       /* from Hopper on */
   COUNTER_HALF_UNITS, /* before Hopper */
   COUNTER_ALU,
   COUNTER_SPECIAL,
   COUNTER_TENSOR,
   COUNTER_WARPS, /* resident, in percent of what fits */
   COUNTER_DRAM_BYTES,
   COUNTER_L2_HITS, /* percent */
   COUNTER_LOAD_SECTORS,
   COUNTER_LOAD_REQUESTS,
   COUNTER_STORE_SECTORS,
   COUNTER_STORE_REQUESTS,
   COUNTER_LOAD_USED,  /* percent of the bytes in the sectors asked for */
   COUNTER_STORE_USED, /* the same for stores */
   COUNTER_CONFLICTS,  /* wavefronts of shared memory that bank conflicts add */
   COUNTER_WAVEFRONTS, /* all wavefronts of shared memory */
   /* Warps that wait for something, divided by the instructions that start. */
   COUNTER_ACTIVE,
   COUNTER_WAIT_MEMORY,
   COUNTER_WAIT_SHORT,
   COUNTER_WAIT_BARRIER,
   COUNTER_WAIT_PIPE,
   COUNTER_WAIT_LG,
   COUNTER_WAIT_MIO,
   COUNTER_WAIT_FETCH,
   COUNTER_WAIT_GMMA,
   COUNTER_COUNT
};

extern const char *const COUNTER_NAMES[COUNTER_COUNT];

/* Facts about a launch other than its counters. */
typedef struct counted_launch {
   const double *values;      /* COUNTER_COUNT values; NAN where one was not read */
   const char *kernel;        /* the kernel's name in the manifest */
   double waves;              /* blocks, divided by the blocks that the device holds at once; or NAN */
   const char *occupancy_by;  /* what limits the resident warps, or NULL */
   double empty_launch_s;     /* time of an empty kernel; or NAN */
} counted_launch_t;

/* Returns the resource with the largest share of its peak; LIMIT_LATENCY where none reaches 60 %. */
enum limiter counted_limiter(const double *values);

/* {"kernel", "us", "limiter", "sentence", "advice", "counters": {name: value}}; owned, NULL when memory is out. */
json_t *counted_launch_json(const counted_launch_t *launch);

#endif
