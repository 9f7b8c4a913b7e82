/* Finds the bottleneck from a launch's figures, in the field's own terms, and two changes that treat it.
 *
 * One table (advice.c) serves every profiler; each of its rules has a source.  A profiler fills in the
 * figures that it has; a rule that needs another figure does not hold.  Pure; any thread. */
#ifndef PROFILER_ADVICE_H
#define PROFILER_ADVICE_H

#include <jansson.h>
#include <stdint.h>

/* A figure that a profiler does not have is NAN, or 0 where a rule asks for a least value. */
typedef struct launch_figures {
   const char
      *resource; /* the resource that limits the launch: limiter_name of launch_limiter.h */
   double share; /* the share of the launch's time that the resource alone would need, 0 to 1 */
   double fixed_share;    /* the share of the launch's time that an empty launch takes */
   double wasted_sectors; /* of the bytes in the sectors asked for, the share that the warp does not want */
   double memory_share;   /* the share of the device memory's sustained bandwidth that the launch uses */
   double wavefronts;     /* wavefronts of shared memory for one request; 1: no bank conflict */
   double occupancy;      /* resident warps, divided by what a multiprocessor holds */
   double waves;          /* blocks, divided by the blocks that the whole device holds at once */
   double tensor_share;   /* the share of multiply-adds that tensor cores do */
   /* Of the time that a warp is resident and does not start an instruction: what it waits for (Nsight Compute, "Warp Stall Reasons"). */
   double waits_barrier;     /* other warps of its block */
   double waits_memory;      /* global or local memory: long scoreboard */
   double waits_shared;      /* shared memory, special functions: short scoreboard */
   double waits_queue;       /* room in the queues of the load and store units */
   double waits_pipe;        /* a busy arithmetic unit */
   double waits_fetch;       /* its next instructions */
   double waits_tensor;      /* matrix instructions of the warpgroup */
   uint32_t line;            /* source line with the most wasted sectors, 0: none */
   const char *occupancy_by; /* what limits the occupancy: "registers", "shared memory", ...; or NULL */
} launch_figures_t;

typedef struct advice {
   const char *bottleneck; /* "uncoalesced access" */
   const char *moves[2];   /* what to change, the more promising first */
   const char *source;     /* where the rule comes from */
} advice_t;

/* Returns the first rule of the table that holds; NULL when no rule is about the resource.  Static. */
const advice_t *advice_for(const launch_figures_t *figures);

/* Returns {"bottleneck", "share", "moves": [two texts]}, with the line's number where a rule is about a line;
 * owned.  NULL when no rule holds or memory runs out. */
json_t *advice_json(const launch_figures_t *figures);

#endif
