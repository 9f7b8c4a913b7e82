/* Resampling along one dim, places and weights reckoned in single precision as PyTorch's kernels do. */
#include "float_run.h"

#include <math.h>
#include <string.h>
#include "reference/operations/resample.h"

typedef struct pair {
   int64_t low, high;
   float high_share;
} pair_t;

static pair_t pair_of(const float_run_t *run, const rkb_program_node_t *node, int64_t at, int64_t in,
                      int64_t out) {
   const int64_t resampling = node->integers[1];
   if (resampling == RKB_RESAMPLE_NEAREST) {
      /* PyTorch's formula, or one in whole numbers: the bounds take either. */
      const float scale = (float)in / (float)out;
      int64_t place = run->mode->fma ? at * in / out : (int64_t)floorf((float)at * scale);
      place = place < in ? place : in - 1;
      return (pair_t){place, place, 0};
   }
   float source;
   if (resampling == RKB_RESAMPLE_CORNERS) {
      source = out > 1 ? (float)at * ((float)(in - 1) / (float)(out - 1)) : 0;
   } else {
      const float scale = (float)in / (float)out;
      source = run->mode->fma ? fmaf(scale, (float)at + 0.5f, -0.5f) : scale * ((float)at + 0.5f) - 0.5f;
      source = source < 0 ? 0 : source;
   }
   pair_t pair = {.low = (int64_t)source < in ? (int64_t)source : in - 1};
   pair.high = pair.low + (pair.low < in - 1);
   pair.high_share = fminf(source - (float)pair.low, 1);
   return pair;
}

void float_resample(float_run_t *run, const rkb_program_node_t *node, double *out) {
   const bool backward = strstr(node->operation->name, "gradient") != NULL;
   const uint32_t vx = backward ? node->output : node->inputs[0],
                  vy = backward ? node->inputs[0] : node->output, dim = (uint32_t)node->integers[0];
   const rkb_shape_t *x = rkb_program_shape(run->program, vx), *y = rkb_program_shape(run->program, vy);
   const double *given = float_operand(run, node, 0);
   const uint64_t count = run->program->values[vy].elements;
   for (uint64_t i = 0; backward && i < run->program->values[vx].elements; i++)
      out[i] = 0;
   for (uint64_t k = 0; k < count; k++) {
      const uint64_t p = run->mode->order == ORDER_REVERSED ? count - 1 - k : k;
      int64_t at[RKB_MAX_RANK];
      rkb_shape_split(y, p, at);
      const pair_t pair = pair_of(run, node, at[dim], x->size[dim], y->size[dim]);
      at[dim] = pair.low;
      const uint64_t low = rkb_shape_join(x, at);
      at[dim] = pair.high;
      const uint64_t high = rkb_shape_join(x, at);
      const float low_share = 1 - pair.high_share;
      if (!backward) {
         out[p] = float_flushed(run, low == high ? (float)given[low]
                                                 : low_share * (float)given[low] +
                                                      pair.high_share * (float)given[high]);
         continue;
      }
      out[low] = float_flushed(run, (float)out[low] + low_share * (float)given[p]);
      out[high] = float_flushed(run, (float)out[high] + pair.high_share * (float)given[p]);
   }
}
