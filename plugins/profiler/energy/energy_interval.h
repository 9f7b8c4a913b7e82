/* From rounds of a plan run back to back to joules for one run.  Pure; any thread. */
#ifndef ENERGY_INTERVAL_H
#define ENERGY_INTERVAL_H

#include <rkb/ext/device.h>

typedef struct energy_estimate {
   double joules; /* a run: all that was spent over all that was run */
   double half;   /* of its 95 % interval, by the spread between rounds; NAN with one round */
   double watts, seconds; /* mean power; time of a run, one after the other */
} energy_estimate_t;

energy_estimate_t energy_of(const rkb_energy_spent_t *rounds, uint32_t count);

#endif
