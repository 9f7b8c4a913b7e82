/* From rounds, in which a plan runs back to back, to joules for one run.  Pure; any thread. */
#ifndef ENERGY_INTERVAL_H
#define ENERGY_INTERVAL_H

#include <rkb/ext/device.h>

typedef struct energy_estimate {
   double joules;         /* of one run: all energy that was spent, divided by all runs */
   double half;           /* half of the 95 % interval, from the spread between rounds; NAN with one round */
   double watts, seconds; /* mean power; time of one of the runs, which follow each other */
} energy_estimate_t;

energy_estimate_t energy_of(const rkb_energy_spent_t *rounds, uint32_t count);

#endif
