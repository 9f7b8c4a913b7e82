/* The fastest plan this stage has timed so far in a run: what the next candidate is timed against.  Shared by jobs on
 * several devices: counted references behind a lock. */
#ifndef TIME_INCUMBENT_H
#define TIME_INCUMBENT_H

#include "sitting.h"

typedef struct incumbent {
   void *cubin;
   size_t cubin_bytes;
   char hash[40]; /* of the cubin */
   bool transform;
   rkb_plan_t **plans; /* one a bench case, owned */
   uint32_t plan_count;
   uint32_t holders;
   void (*plan_free)(rkb_plan_t *plan);
} incumbent_t;

typedef struct throne throne_t; /* who sits there may change while a job holds the one before */
throne_t *throne_new(void);
void throne_free(throne_t *throne); /* NULL is accepted */

/* The incumbent, held; NULL while there is none.  Give it back with incumbent_release. */
incumbent_t *throne_hold(throne_t *throne);
void incumbent_release(throne_t *throne, incumbent_t *incumbent); /* NULL is accepted */

/* Makes a new incumbent from a build and its plans, if the current one has not changed since (or there is none).  Takes ownership
 * of the plans in any case. */
void throne_take(throne_t *throne, const incumbent_t *against, const rkb_kernel_api_t *kernel,
                 const rkb_build_t *build, bool transform, rkb_plan_t **plans, uint32_t plan_count);

#endif
