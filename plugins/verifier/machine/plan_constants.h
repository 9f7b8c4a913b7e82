/* Values that are constant in a candidate's plans over the check cases.  One thread. */
#ifndef MACHINE_PLAN_CONSTANTS_H
#define MACHINE_PLAN_CONSTANTS_H

#include "verifier.h"

#define PLAN_CONSTANTS 4096u

struct plan_constant {
   uint64_t key, value; /* key 0: free */
   uint32_t shapes;
   bool varies;
};

struct plan_constants {
   struct plan_constant places[PLAN_CONSTANTS]; /* a hash table */
};

/* learn: records the constants of a check case.  Otherwise calls changed for each constant that differs from the recorded one. */
void plan_constants_take(struct plan_constants *constants, const struct candidate *candidate,
                         const rkb_case_t *the_case, const rkb_plan_launch_t *launch, bool learn,
                         void (*changed)(void *argument, uint64_t constant), void *argument);

#endif
