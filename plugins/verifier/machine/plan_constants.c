/* Values that are constant in a candidate's plans over the check cases: an argument or an extent of a grid, or how much it exceeds a dim.
 * A manifest can decide in place of the kernel (`if(D % 128 == 77, 1, 0)` as an argument), and then no condition stands in the PTX; but a
 * shape at which such a value changes shows the decision.  One thread. */
#include "plan_constants.h"

#define LEAST_SHAPES 4u /* that agree, for a constant */

static uint64_t mixed(uint64_t value) {
   value = (value ^ value >> 31) * 0x7fb5d329728ea185u;
   return value ^ value >> 27;
}

static struct plan_constant *place_of(struct plan_constants *c, uint64_t key) {
   for (uint32_t n = 0; n < 16; n++) {
      struct plan_constant *at = &c->places[(key + n) % PLAN_CONSTANTS];
      if (at->key == key || !at->key)
         return at;
   }
   return NULL;
}

static void take(struct plan_constants *c, uint64_t key, uint64_t value, bool learn,
                 void (*changed)(void *argument, uint64_t constant), void *argument) {
   key = mixed(key) | 1;
   struct plan_constant *at = place_of(c, key);
   if (!at)
      return;
   if (learn) {
      at->varies |= at->key && at->value != value;
      *at = (struct plan_constant){key, value, at->shapes + 1, at->varies};
   } else if (at->key && !at->varies && at->shapes >= LEAST_SHAPES && at->value != value) {
      changed(argument, key);
   }
}

/* A number of the plan, and how much it exceeds each dim. */
static void take_number(struct plan_constants *c, const rkb_case_t *the_case, uint64_t number, uint64_t value,
                        bool learn, void (*changed)(void *argument, uint64_t constant), void *argument) {
   take(c, mixed(number), value, learn, changed, argument);
   for (uint32_t d = 0; d < the_case->dim_count; d++)
      take(c, mixed(number) + 1 + d, value - (uint64_t)the_case->dims[d].value, learn, changed, argument);
}

void plan_constants_take(struct plan_constants *c, const struct candidate *candidate,
                         const rkb_case_t *the_case, const rkb_plan_launch_t *launch, bool learn,
                         void (*changed)(void *argument, uint64_t constant), void *argument) {
   const uint64_t name = mixed(shapes_launch_name(candidate, launch));
   for (uint32_t n = 0; n < launch->argument_count; n++)
      if (launch->arguments[n].buffer == UINT32_MAX && !launch->arguments[n].map &&
          launch->arguments[n].bytes <= 8)
         take_number(c, the_case, name + 64 * n, launch->arguments[n].value, learn, changed, argument);
   for (uint32_t d = 0; d < 3; d++)
      take_number(c, the_case, ~name + 64 * d, launch->grid[d], learn, changed, argument);
}
