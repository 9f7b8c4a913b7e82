/* The speed model: the time of one launch, from what the machine counted, what the build reported and what
 * the device can do.  Pure functions; any thread.  README.md beside this file derives every term. */
#ifndef MODEL_ROOFLINE_H
#define MODEL_ROOFLINE_H

#include <rkb/ext/counters.h>
#include <rkb/ext/kernel.h>
#include "block_turns.h"
#include "shared/launch_limiter.h"

typedef struct launch_time {
   double seconds;           /* of the whole launch, its floor included */
   double part[LIMIT_COUNT]; /* seconds that each resource alone would need */
   enum limiter limiter;     /* the largest part */
   double floor;             /* seconds that an empty launch takes */
   double
      stores; /* seconds in which the warps that multiply store, and nobody multiplies; part of the whole */
   double clusters;          /* seconds in which blocks of a cluster wait for each other; part of the whole */
   double memory_bytes;      /* estimated bytes through device memory */
   double memory_share;      /* memory_bytes / seconds / sustained bandwidth */
   rkb_occupancy_t occupancy;
   double waves; /* blocks / (resident blocks on the whole device) */
} launch_time_t;

/* What the assembler moved from registers to local memory, bytes 0: nothing; and the cache that holds it and what blocks load. */
typedef struct spilled_registers {
   double bytes; /* that one thread stores and loads over the launch */
   double frame; /* bytes of a thread's local memory */
   double
      cache_bytes; /* of the first-level cache of a multiprocessor, beside the shared memory of its resident blocks */
} spilled_registers_t;

/* referenced_bytes: bytes of all buffers the launch is given, the most that can come from or go to device memory.
 * first: the plan's first launch pays launch_floor_s, later ones graph_launch_s.  occupancy.blocks must not be 0. */
launch_time_t roofline_launch(const rkb_device_t *device, rkb_occupancy_t occupancy,
                              const rkb_launch_counters_t *counters, block_turns_t turns,
                              double referenced_bytes, spilled_registers_t spilled, bool first);

#endif
