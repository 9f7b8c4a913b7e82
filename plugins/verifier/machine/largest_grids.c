/* Shapes with the largest grids, for candidates whose blocks may wait for each other.  A block may wait for one that is far ahead, and only a grid that has the
 * block shows it.  Check cases and drawn shapes are executed whole, so their grids are small.  At the corner of the domain at which a launch that may wait has most
 * blocks, and at a shape like it whose other dims are drawn, blocks are therefore executed as at a bench shape (waiting_blocks.c).  Nothing else is judged
 * there.  docs/decisions/orders.md.  One worker thread a candidate. */
#include "bench_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRID_INDEX 0xfeu /* a number for random streams, apart from those of bench cases */
#define GRID_DRAWN 8u    /* blocks of a launch */
#define GRID_BUDGET 600000000u
#define MOST_DIMS 32u
#define TRIED 32u         /* shapes like the corner */
#define MOST_OF_BLOCK 1e6 /* operations of a shape for each block */

/* How many times as many blocks as fit at once a launch that may wait has; the launch with most of them.  0: the candidate has no such launch or no plan. */
static int grid_of(const struct verifier *me, const struct candidate *candidate, const rkb_case_t *shape,
                   double *most, double *blocks, rkb_error_t *err) {
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   *most = *blocks = 0;
   const int status = me->kernel->plan(me->host, candidate->job, candidate->item, candidate->build, shape,
                                       &plan, &finding, err);
   uint32_t *resident = plan ? waiting_resident(me, candidate, plan) : NULL;
   for (uint32_t n = 0; resident && n < plan->launch_count; n++) {
      const uint32_t *grid = plan->launches[n].grid;
      const double own = (double)grid[0] * grid[1] * grid[2], times = own / (resident[n] ? resident[n] : 1);
      if (times > *most && rkb_machine_may_wait(candidate->module, plan->launches[n].entry)) {
         *most = times;
         *blocks = own;
      }
   }
   free(resident);
   if (plan)
      me->kernel->plan_free(plan);
   return status;
}

/* Keeps the corner with the largest grid, of those that the device holds, and frees the others. */
static int find_corner(const struct verifier *me, const struct candidate *candidate, rkb_case_t **best,
                       double *most, rkb_error_t *err) {
   const rkb_device_t *device = me->kernel->device(me->host);
   int status = device ? RKB_OK : RKB_ERR_LIMIT;
   for (uint32_t n = 0; status == RKB_OK; n++) {
      rkb_case_t *corner = NULL;
      double times = 0, blocks = 0;
      status = me->task->case_corner(me->host, n, &corner, err);
      if (status != RKB_OK || !corner)
         continue;
      if (corner->bytes <= device->memory_bytes)
         status = grid_of(me, candidate, corner, &times, &blocks, err);
      if (times > 1 && times > *most && corner->operations <= MOST_OF_BLOCK * blocks) {
         rkb_case_t *other = *best;
         *best = corner;
         *most = times;
         corner = other;
      }
      if (corner)
         me->task->case_free(corner);
   }
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* that was the last */
}

/* A shape with at least half as many blocks as the corner, whose dims that are small at the corner are drawn.  NULL: none was found. */
static int draw_like(const struct verifier *me, const struct candidate *candidate, const rkb_case_t *corner,
                     double most, rkb_random_t *stream, rkb_case_t **drawn, rkb_error_t *err) {
   const rkb_device_t *device = me->kernel->device(me->host);
   int status = RKB_OK;
   if (!RKB_HAS(me->task, dim_range) || corner->dim_count > MOST_DIMS)
      return RKB_OK;
   for (uint32_t n = 0; n < TRIED && !*drawn && status == RKB_OK; n++) {
      int64_t dims[MOST_DIMS];
      double times = 0, blocks = 0;
      for (uint32_t d = 0; d < corner->dim_count; d++) {
         int64_t low, high;
         me->task->dim_range(me->host, d, &low, &high);
         dims[d] = corner->dims[d].value;
         if (dims[d] == low && high > low) /* of each power of two, as many */
            dims[d] = (int64_t)((double)low * pow((double)high / (double)low,
                                                  (double)me->random->below(stream, 1u << 20) / (1u << 20)));
      }
      rkb_case_t *made = NULL;
      status = me->task->case_with_dims(me->host, corner, stream, dims, INFINITY, &made, err);
      if (made && made->bytes <= device->memory_bytes)
         status = grid_of(me, candidate, made, &times, &blocks, err);
      if (made && times >= most / 2 && made->operations <= MOST_OF_BLOCK * blocks)
         *drawn = made;
      else if (made)
         me->task->case_free(made);
      status = status == RKB_ERR_LIMIT ? RKB_OK : status; /* the domain does not have it */
   }
   return status;
}

static int judge_shape(const struct verifier *me, struct candidate *candidate, const rkb_case_t *shape,
                       struct outcome *outcome, rkb_error_t *err) {
   struct candidate own = *candidate;
   rkb_finding_t finding = {0};
   rkb_plan_t *plan = NULL;
   int status = me->kernel->plan(me->host, candidate->job, candidate->item, candidate->build, shape, &plan,
                                 &finding, err);
   if (status != RKB_OK || !plan)
      return status;
   own.budget = own.budget < GRID_BUDGET ? own.budget : GRID_BUDGET;
   const uint64_t before = own.budget;
   struct sample s = {.verifier = me,
                      .candidate = &own,
                      .the_case = shape,
                      .case_index = GRID_INDEX,
                      .plan = plan,
                      .outcome = outcome,
                      .lone = true,
                      .family = me->task->family_at(me->host, shape, 0),
                      .seed = verifier_seed(me, candidate, 0),
                      .deciding = outcome->deciding_inputs};
   status = block_sample_draw(me, &own, plan, GRID_INDEX, GRID_DRAWN, &s.blocks, err);
   if (status == RKB_OK && s.family)
      status = me->task->inputs_open(me->host, shape, s.family, s.seed, &s.inputs, err);
   if (status == RKB_OK && s.family)
      status = waiting_blocks_find(&s, err);
   candidate->budget -= before - own.budget;
   if (s.inputs)
      me->task->inputs_free(s.inputs);
   block_sample_free(&s.blocks);
   me->kernel->plan_free(plan);
   return status == RKB_ERR_LIMIT || status == RKB_ERR_NOMEM ? RKB_OK
                                                             : status; /* too much memory: it is left out */
}

int largest_grids_judge(const struct verifier *me, struct candidate *candidate, struct outcome *outcome,
                        rkb_error_t *err) {
   rkb_random_t stream = me->random->for_job(me->host, candidate->job, STREAM_BESIDE);
   rkb_case_t *shapes[2] = {NULL, NULL};
   double most = 0;
   int status = find_corner(me, candidate, &shapes[0], &most, err);
   if (status == RKB_OK && shapes[0])
      status = draw_like(me, candidate, shapes[0], most, &stream, &shapes[1], err);
   for (uint32_t n = 0; n < 2; n++) {
      if (status == RKB_OK && shapes[n] && candidate->budget && outcome->rank < RKB_MACHINE_UNKNOWN)
         status = judge_shape(me, candidate, shapes[n], outcome, err);
      if (shapes[n])
         me->task->case_free(shapes[n]);
   }
   return status;
}
