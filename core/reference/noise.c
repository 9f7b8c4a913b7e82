/* Bounds of deep graphs.  After about ten matrix products one after another, a worst-case bound that is
 * carried along exceeds the values themselves.  So do standard deviations that are added because errors might
 * be correlated.  Such a graph is therefore evaluated several times, each time with a random error of each
 * operation's own size added to its result (Parker, "Monte Carlo arithmetic", 1997).  The distance of these
 * outputs from the exact ones shows how errors add up in fact, also through relus and maxima that decide the
 * other way.  Pure functions; any thread. */
#include "reference/noise.h"

#include <math.h>
#include "base/random.h"

#define NOISE_SEED UINT64_C(0x6e6f697365)
/* A few passes give a standard deviation to within a factor of two. */
#define UNCERTAINTY 2
#define HARD_DEVIATIONS 32

void rkb_noise_apply(const rkb_program_node_t *node, uint32_t number, uint32_t pass, uint64_t elements, rkb_block_t *block) {
   const rkb_random_t stream = rkb_random_stream(NOISE_SEED, "noise", number, pass);
   for (uint64_t i = 0; i < elements; i++) {
      if (pass > 0 && !node->operation->moves && block->variance[i] > 0)
         block->value[i] += sqrt(block->variance[i]) * rkb_random_normal_at(&stream, i);
      block->hard[i] = block->variance[i] = 0;
      block->flags[i] &= RKB_POINT_DONT_CARE;
   }
}

void rkb_noise_gather(const rkb_block_t *exact, const rkb_block_t *noisy, uint64_t elements, double *squares, uint8_t *flags) {
   for (uint64_t i = 0; i < elements; i++) {
      const double apart = noisy->value[i] - exact->value[i];
      if (noisy->value[i] == exact->value[i])
         continue;
      if (isfinite(apart))
         squares[i] += apart * apart;
      else
         flags[i] |= RKB_POINT_DONT_CARE;
   }
}

/* Only a few passes give an element's own deviation, so the bound takes at least the deviation of the whole
 * output. */
void rkb_noise_conclude(uint64_t elements, uint32_t passes, const double *squares, const uint8_t *flags, rkb_block_t *exact) {
   double whole = 0;
   for (uint64_t i = 0; i < elements; i++)
      whole += squares[i] / (double)elements;
   for (uint64_t i = 0; i < elements; i++) {
      const double sigma = UNCERTAINTY * sqrt(fmax(squares[i], whole) / passes);
      exact->hard[i] = HARD_DEVIATIONS * sigma;
      exact->variance[i] = sigma * sigma;
      exact->flags[i] |= flags[i];
   }
}
