/* Bounds of deep graphs.  After about ten matrix products one after another, a worst-case bound that is
 * carried along exceeds the values themselves.  So do standard deviations that are added because errors might
 * be correlated.  Such a graph is therefore evaluated several times, each time with a random error of each
 * operation's own size added to its result (Parker, "Monte Carlo arithmetic", 1997).  The distance of these
 * outputs from the exact ones shows how errors add up in fact, also through relus and maxima that decide the
 * other way.  Pure functions; any thread. */
#include "reference/deep_graph_bounds.h"

#include <math.h>
#include "base/random.h"

#define NOISE_SEED UINT64_C(0x6e6f697365)
/* A few passes give a standard deviation to within a factor of two. */
#define UNCERTAINTY 2
#define HARD_DEVIATIONS 32
/* Random errors of single precision change the size of a value a little, unless its operands are exactly equal. */
#define FAR_SMALLER 1000

/* Of the finite elements. */
static double root_mean_square(const rkb_block_t *block, uint64_t elements) {
   double squares = 0;
   for (uint64_t i = 0; i < elements; i++)
      if (isfinite(block->value[i]))
         squares += block->value[i] * block->value[i];
   return elements > 0 ? sqrt(squares / (double)elements) : 0;
}

#define PIECE 512u /* elements whose errors are drawn together */

/* Adds to each of up to PIECE elements, from number `first` on, a normal error of the element's own standard deviation. */
static void add_errors(const rkb_random_t *stream, uint64_t first, uint64_t count, rkb_block_t part) {
   uint64_t draws[PIECE];
   double errors[PIECE];
   bool any = false;
   for (uint64_t i = 0; i < count; i++)
      any |= part.variance[i] > 0;
   if (!any)
      return;
   rkb_random_fill(stream, first, count, draws);
   rkb_random_normals(count, draws, errors);
   for (uint64_t i = 0; i < count; i++)
      if (part.variance[i] > 0)
         part.value[i] += sqrt(part.variance[i]) * errors[i];
}

void rkb_deep_bounds_apply(const rkb_program_node_t *node, uint32_t number, uint32_t pass, uint64_t elements,
                           rkb_block_t *block, rkb_deep_bounds_size_t *size) {
   const rkb_random_t stream = rkb_random_stream(NOISE_SEED, "noise", number, pass);
   for (uint64_t first = 0; first < elements && pass > 0 && !node->operation->moves; first += PIECE)
      add_errors(&stream, first, elements - first < PIECE ? elements - first : PIECE,
                 rkb_block_from(block, first));
   for (uint64_t i = 0; i < elements; i++) {
      block->hard[i] = block->variance[i] = 0;
      block->flags[i] &= RKB_POINT_DONT_CARE;
   }
   const double now = root_mean_square(block, elements);
   if (pass == 0)
      size->exact = now;
   else
      size->noisy = fmax(size->noisy, now);
}

void rkb_deep_bounds_gather(const rkb_block_t *exact, const rkb_block_t *noisy, uint64_t elements,
                            double *squares, uint8_t *flags) {
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

/* If the rows of a batch are exactly equal, a norm over them has variance 0 and multiplies gradients by 1 /
 * sqrt(eps), and so does each norm before it.  Random errors make the rows different.  The variance is then
 * about 1, and the gradients have their usual size.  But a correct kernel may compute equal rows, which also
 * multiply its own rounding; the passes do not tell by how much. */
void rkb_deep_bounds_beyond(const rkb_program_t *program, const rkb_deep_bounds_size_t *sizes, bool *beyond) {
   for (uint32_t i = 0; i < program->node_count; i++) {
      const rkb_program_node_t *node = &program->nodes[i];
      const uint32_t value = node->output;
      beyond[value] = sizes[value].exact > FAR_SMALLER * sizes[value].noisy;
      for (uint32_t j = 0; j < node->input_count; j++)
         beyond[value] |= beyond[node->inputs[j]];
   }
}

/* Only a few passes give an element's own deviation, so the bound takes at least the deviation of the whole
 * output. */
void rkb_deep_bounds_conclude(uint64_t elements, uint32_t passes, const double *squares, const uint8_t *flags,
                              bool beyond, rkb_block_t *exact) {
   double whole = 0;
   for (uint64_t i = 0; i < elements; i++)
      whole += squares[i] / (double)elements;
   for (uint64_t i = 0; i < elements; i++) {
      const double sigma = UNCERTAINTY * sqrt(fmax(squares[i], whole) / passes);
      exact->hard[i] = HARD_DEVIATIONS * sigma;
      exact->variance[i] = sigma * sigma;
      exact->flags[i] |= beyond ? RKB_POINT_DONT_CARE : flags[i];
   }
}
