/* Nearest and linear resampling along one dim, and their gradients.  Pure functions of what they read.
 *
 * Each output place has taps: neighbouring input places, with weights.  Kernels compute the place in single precision, which may
 * change the taps; `doubt` bounds that change.  With linear modes the weights are in doubt, because they are linear in the place.
 * With nearest modes the choice is in doubt, where PyTorch's single-precision formula and integer arithmetic pick different
 * neighbours.  A node's integers: dim, resampling. */
#include "reference/operations/resample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "reference/operations/reduce.h"

#define MOST_TAPS 4
/* Roundings in computing a place: the scale, its product with the output place, and two additions of a half. */
#define PLACE_ROUNDINGS 4

typedef struct taps {
   int64_t place[MOST_TAPS]; /* ascending neighbours */
   double weight[MOST_TAPS];
   uint32_t count;
   double doubt;  /* how much weight may move to a neighbouring tap */
   bool decision; /* the choice of the tap is in doubt */
} taps_t;

typedef struct line {
   int64_t in, out;
   uint64_t stride; /* elements between neighbouring places */
   enum rkb_resampling resampling;
   double unit; /* unit roundoff of the precision class */
} line_t;

static taps_t nearest_taps(const line_t *line, int64_t at) {
   const float scale = (float)line->in / (float)line->out;
   int64_t shown = (int64_t)floorf((float)at * scale), whole = at * line->in / line->out;
   shown = shown < line->in ? shown : line->in - 1;
   taps_t taps = {.place = {shown}, .weight = {1}, .count = 1};
   if (shown != whole) {
      const bool after = whole > shown;
      taps = (taps_t){.place = {after ? shown : whole, after ? whole : shown},
                      .weight = {after, !after},
                      .count = 2,
                      .doubt = 1,
                      .decision = true};
   }
   return taps;
}

/* Where an output place lies in the input. */
static double source_of(const line_t *line, int64_t at) {
   if (line->resampling == RKB_RESAMPLE_CORNERS)
      return line->out > 1 ? (double)at * (double)(line->in - 1) / (double)(line->out - 1) : 0;
   return fmax((double)line->in / (double)line->out * ((double)at + 0.5) - 0.5, 0);
}

static taps_t linear_taps(const line_t *line, int64_t at) {
   const double source = source_of(line, at), doubt = PLACE_ROUNDINGS * line->unit * (source + 1);
   const int64_t low = (int64_t)fmin(floor(source), (double)(line->in - 1));
   const double share = fmin(source - (double)low, 1);
   taps_t taps = {.doubt = doubt};
   for (int64_t place = low - 1; place <= low + 2; place++) {
      const bool near = place == low - 1 ? share <= doubt : place == low + 2 ? 1 - share <= doubt : true;
      if (place < 0 || place >= line->in || !near)
         continue;
      taps.place[taps.count] = place;
      taps.weight[taps.count++] = place == low ? 1 - share : place == low + 1 ? share : 0;
   }
   if (low == line->in - 1) /* the last place has no neighbour behind it, so it gets all the weight */
      taps.weight[taps.count - 1] = 1;
   return taps;
}

static taps_t taps_of(const line_t *line, int64_t at) {
   return line->resampling == RKB_RESAMPLE_NEAREST ? nearest_taps(line, at) : linear_taps(line, at);
}

static line_t line_of(const rkb_reader_t *reader, const rkb_program_node_t *node, const rkb_shape_t *in,
                      const rkb_shape_t *out) {
   const uint32_t dim = (uint32_t)node->integers[0];
   return (line_t){in->size[dim], out->size[dim], rkb_shape_product(in, dim + 1, in->rank),
                   (enum rkb_resampling)node->integers[1], rkb_reader_precision(reader)->unit};
}

/* The first element, in a tensor with other_size places along the dim, of the line on which an element of a tensor with size places
 * lies. */
static int64_t line_start(const line_t *line, uint64_t element, int64_t size, int64_t other_size) {
   const uint64_t outer = element / line->stride / (uint64_t)size, inner = element % line->stride;
   return (int64_t)(outer * (uint64_t)other_size * line->stride + inner);
}

static int64_t place_on(const line_t *line, uint64_t element, int64_t size) {
   return (int64_t)(element / line->stride % (uint64_t)size);
}

/* The weighted sum of count points, of which `doubt` may move between taps.  A single tap with all the weight is passed on unchanged. */
static rkb_point_t weigh(const rkb_precision_t *precision, const rkb_block_t *block, uint64_t count,
                         const double *weight, double moved, bool decision) {
   rkb_point_t point = {0};
   uint64_t used = 0, last = 0;
   uint32_t flags = 0;
   for (uint64_t i = 0; i < count; i++) {
      flags |= block->flags[i];
      used += weight[i] != 0;
      last = weight[i] != 0 ? i : last;
   }
   if (used == 1 && weight[last] == 1)
      point = rkb_block_get(block, last);
   else if (used)
      point = rkb_weighted_sum(precision, block, count, weight);
   point.flags |= flags | (decision && moved > 0 ? RKB_POINT_AMBIGUOUS : 0);
   point.hard += moved;
   point.variance += moved * moved;
   return point;
}

/* The largest change when `doubt` moves weight between neighbouring taps. */
static double moved_between(const rkb_block_t *block, uint32_t first, const taps_t *taps) {
   double most = 0;
   for (uint32_t k = 0; k + 1 < taps->count; k++)
      most = fmax(most, fabs(block->value[first + k + 1] - block->value[first + k]) + block->hard[first + k] +
                           block->hard[first + k + 1]);
   return taps->doubt * most;
}

static int compute(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count, const int64_t *index,
                   rkb_block_t *out) {
   const rkb_program_t *program = rkb_reader_program(reader);
   const line_t line = line_of(reader, node, rkb_program_shape(program, node->inputs[0]),
                               rkb_program_shape(program, node->output));
   rkb_block_t block;
   int64_t *from = rkb_try_uncleared(MOST_TAPS * count + 1, sizeof *from, NULL);
   int status = rkb_block_new(&block, MOST_TAPS * count + 1) && from ? RKB_OK : RKB_ERR_NOMEM;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      const taps_t taps = taps_of(&line, place_on(&line, (uint64_t)index[i], line.out));
      const int64_t start = line_start(&line, (uint64_t)index[i], line.out, line.in);
      for (uint32_t k = 0; k < MOST_TAPS; k++)
         from[MOST_TAPS * i + k] = k < taps.count ? start + taps.place[k] * (int64_t)line.stride : -1;
   }
   if (status == RKB_OK)
      status = rkb_read(reader, node->inputs[0], MOST_TAPS * count, from, &block);
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      const taps_t taps = taps_of(&line, place_on(&line, (uint64_t)index[i], line.out));
      rkb_block_t mine = rkb_block_from(&block, MOST_TAPS * i);
      rkb_block_put(out, i,
                    weigh(rkb_reader_precision(reader), &mine, taps.count, taps.weight,
                          moved_between(&mine, 0, &taps), taps.decision));
   }
   free(from);
   rkb_block_free(&block);
   return status;
}

/* For each input place, the list of output places that have it among their taps; the lists lie side by side. */
typedef struct users {
   uint64_t *first; /* by input place, plus one entry at the end */
   int64_t *at;
   double *weight, *doubt;
   bool *decision;
   uint64_t most; /* length of the longest list */
} users_t;

static void users_free(users_t *users) {
   free(users->first);
   free(users->at);
   free(users->weight);
   free(users->doubt);
   free(users->decision);
}

static bool users_new(const line_t *line, users_t *users) {
   const uint64_t room = MOST_TAPS * (uint64_t)line->out + 1;
   *users = (users_t){rkb_try_allocate((uint64_t)line->in + 2, sizeof *users->first, NULL),
                      rkb_try_uncleared(room, sizeof *users->at, NULL),
                      rkb_try_uncleared(room, sizeof *users->weight, NULL),
                      rkb_try_uncleared(room, sizeof *users->doubt, NULL),
                      rkb_try_uncleared(room, sizeof *users->decision, NULL),
                      0};
   if (!users->first || !users->at || !users->weight || !users->doubt || !users->decision) {
      users_free(users);
      return false;
   }
   for (int64_t at = 0; at < line->out; at++) {
      const taps_t taps = taps_of(line, at);
      for (uint32_t k = 0; k < taps.count; k++)
         users->first[taps.place[k] + 2]++;
   }
   for (int64_t place = 0; place <= line->in; place++) {
      users->most = users->first[place + 1] > users->most ? users->first[place + 1] : users->most;
      users->first[place + 1] += users->first[place];
   }
   for (int64_t at = 0; at < line->out; at++) { /* first[place + 1] is where its next entry goes */
      const taps_t taps = taps_of(line, at);
      for (uint32_t k = 0; k < taps.count; k++) {
         const uint64_t slot = users->first[taps.place[k] + 1]++;
         users->at[slot] = at;
         users->weight[slot] = taps.weight[k];
         users->doubt[slot] = taps.doubt;
         users->decision[slot] = taps.decision;
      }
   }
   return true;
}

static int compute_gradient(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                            const int64_t *index, rkb_block_t *out) {
   const rkb_program_t *program = rkb_reader_program(reader);
   const line_t line = line_of(reader, node, rkb_program_shape(program, node->output),
                               rkb_program_shape(program, node->inputs[0]));
   users_t users;
   rkb_block_t block;
   if (!users_new(&line, &users))
      return RKB_ERR_NOMEM;
   int64_t *from = rkb_try_uncleared(users.most + 1, sizeof *from, NULL);
   int status = rkb_block_new(&block, users.most + 1) && from ? RKB_OK : RKB_ERR_NOMEM;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      const int64_t place = place_on(&line, (uint64_t)index[i], line.in);
      const uint64_t first = users.first[place], terms = users.first[place + 1] - first;
      const int64_t start = line_start(&line, (uint64_t)index[i], line.in, line.out);
      double moved = 0;
      bool decision = false;
      for (uint64_t k = 0; k < terms; k++)
         from[k] = start + users.at[first + k] * (int64_t)line.stride;
      status = rkb_read(reader, node->inputs[0], terms, from, &block);
      for (uint64_t k = 0; status == RKB_OK && k < terms; k++) {
         moved += users.doubt[first + k] * (fabs(block.value[k]) + block.hard[k]);
         decision |= users.decision[first + k];
      }
      if (status == RKB_OK)
         rkb_block_put(
            out, i,
            weigh(rkb_reader_precision(reader), &block, terms, users.weight + first, moved, decision));
   }
   free(from);
   rkb_block_free(&block);
   users_free(&users);
   return status;
}

/* Two products and a sum for each element of the larger side; nearest modes cost no arithmetic. */
static double work(const rkb_program_t *program, const rkb_program_node_t *node) {
   const uint64_t from = program->values[node->inputs[0]].elements,
                  to = program->values[node->output].elements;
   return node->integers[1] == RKB_RESAMPLE_NEAREST ? 0 : 3 * (double)(from > to ? from : to);
}

static double work_gradient(const rkb_program_t *program, const rkb_program_node_t *node) {
   const double grads = (double)program->values[node->inputs[0]].elements;
   return node->integers[1] == RKB_RESAMPLE_NEAREST ? grads : 4 * grads;
}

static const rkb_operation_t gradient_operation = {
   .name = "resample_gradient", .compute = compute_gradient, .work = work_gradient};

static uint32_t gradient(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                         uint32_t grad) {
   (void)which;
   rkb_shape_t shape = *rkb_program_shape(program, node->inputs[0]);
   return rkb_program_add(program, &gradient_operation, &grad, 1, node->integers, 2, NULL, 0,
                          rkb_program_dtype(program, node->inputs[0]), &shape);
}

static const rkb_operation_t resample = {
   .name = "resample", .compute = compute, .work = work, .gradient = gradient};

uint32_t rkb_make_resample(rkb_program_t *program, uint32_t x, uint32_t dim, int64_t size,
                           enum rkb_resampling resampling) {
   rkb_shape_t shape = *rkb_program_shape(program, x);
   if (program->failed)
      return RKB_NO_VALUE;
   if (dim >= shape.rank || size < 1)
      return rkb_program_fail(program, "interpolate: sizes are at least 1");
   if (shape.size[dim] == size)
      return x;
   shape.size[dim] = size;
   return rkb_program_add(program, &resample, &x, 1, (int64_t[]){dim, resampling}, 2, NULL, 0,
                          rkb_program_dtype(program, x), &shape);
}
