/* The mean over rounds with Student's t.  Rounds begin and end at steps of the counter, so they count as
 * independent. */
#include "energy_interval.h"
#include <math.h>

/* The 97.5 % quantile of Student's t for 1 to 30 degrees of freedom (any table of it has it); beyond, that of
 * the normal distribution. */
static double student(uint32_t freedom) {
   static const double table[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
                                  2.120,  2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
   return freedom == 0 ? NAN : freedom <= sizeof table / sizeof table[0] ? table[freedom - 1] : 1.960;
}

energy_estimate_t energy_of(const rkb_energy_spent_t *rounds, uint32_t count) {
   double joules = 0, seconds = 0, runs = 0, squares = 0;
   for (uint32_t i = 0; i < count; i++) {
      joules += (double)rounds[i].millijoules * 1e-3;
      seconds += (double)rounds[i].nanoseconds * 1e-9;
      runs += (double)rounds[i].runs;
   }
   energy_estimate_t out = {.joules = joules / runs, .half = NAN, .watts = joules / seconds, .seconds = seconds / runs};
   for (uint32_t i = 0; i < count; i++) {
      const double difference = (double)rounds[i].millijoules * 1e-3 / (double)rounds[i].runs - out.joules;
      squares += difference * difference;
   }
   if (count > 1)
      out.half = student(count - 1) * sqrt(squares / (count - 1) / count);
   return out;
}
