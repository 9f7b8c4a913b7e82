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

/* Keeps the incumbent.  A job may still hold one that was replaced meanwhile. */
typedef struct incumbent_holder incumbent_holder_t;
incumbent_holder_t *incumbent_holder_new(void);
void incumbent_holder_free(incumbent_holder_t *holder); /* NULL is accepted */

/* The incumbent, held; NULL while there is none.  Give it back with incumbent_release. */
incumbent_t *incumbent_hold(incumbent_holder_t *holder);
void incumbent_release(incumbent_holder_t *holder, incumbent_t *incumbent); /* NULL is accepted */

/* Makes a new incumbent from a build and its plans, if the current one has not changed since (or there is none).  Takes ownership
 * of the plans in any case. */
void incumbent_replace(incumbent_holder_t *holder, const incumbent_t *against, const rkb_kernel_api_t *kernel,
                       const rkb_build_t *build, bool transform, rkb_plan_t **plans, uint32_t plan_count);

#endif
