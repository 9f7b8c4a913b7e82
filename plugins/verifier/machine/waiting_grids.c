/* Grids of blocks that wait for each other.  If a block waits for one that begins only when another block ends, it may wait for ever.  That
 * shows at shapes with more blocks than the target holds at once, which check cases need not have.  Plans of many shapes are made, and up to three
 * such shapes are executed: the cheapest, the cheapest with two or three times as many blocks as fit, and the one with most blocks
 * (docs/decisions/orders.md).  One thread. */
#include "verifier.h"

#include <stdlib.h>

#define SEARCHED 512            /* shapes */
#define LARGER 100              /* times the work of other drawn shapes */
#define MOST_THREADS (1u << 20) /* of a plan that is executed for this */

uint32_t *waiting_resident(const struct verifier *me, const struct candidate *candidate,
                           const rkb_plan_t *plan) {
   const rkb_device_t *device = me->kernel->device(me->host);
   const rkb_build_t *build = candidate->build;
   uint32_t *blocks = build->cubin && device ? calloc(plan->launch_count + 1, sizeof *blocks) : NULL;
   for (uint32_t n = 0; blocks && n < plan->launch_count; n++) {
      const rkb_plan_launch_t *launch = &plan->launches[n];
      const uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
      const rkb_occupancy_t occupancy =
         me->kernel->occupancy(device, &build->kernels[launch->kernel], threads, launch->dynamic_shared);
      blocks[n] = occupancy.blocks * (uint32_t)device->multiprocessors;
   }
   return blocks;
}

/* Shapes that are kept while more are drawn.  A block may wait for one far ahead, or for one in the other half of its grid.  At a grid that is little
 * larger than fits, the blocks that wait may then leave room for the ones that they wait for. */
enum { SMALLEST, LARGER_GRID, LARGEST, SHAPES };

struct kept {
   rkb_case_t *shape[SHAPES];
   double cost[SHAPES]; /* the smallest that was met, for LARGEST below */
   double times;        /* how many times what fits LARGER_GRID has at least */
   double blocks;       /* times what fits that LARGEST has */
};

/* How many times as many blocks as fit at once the plan's launch with most of them has. */
static double times_resident(const struct verifier *me, const struct candidate *candidate,
                             const rkb_plan_t *plan) {
   uint32_t *resident = waiting_resident(me, candidate, plan);
   double most = 0;
   for (uint32_t n = 0; resident && n < plan->launch_count; n++) {
      const uint32_t *grid = plan->launches[n].grid;
      const double times = (double)grid[0] * grid[1] * grid[2] / (resident[n] ? resident[n] : 1);
      most = times > most ? times : most;
   }
   free(resident);
   return most;
}

/* Gives the shape's place to another one.  Returns the shape that was there. */
static rkb_case_t *replace(struct kept *kept, uint32_t place, rkb_case_t *shape, double cost) {
   rkb_case_t *before = kept->shape[place];
   kept->shape[place] = shape;
   kept->cost[place] = cost;
   return before;
}

/* Keeps the shape where it is better than the one that is kept.  Returns the shape that is not needed. */
static rkb_case_t *keep(struct kept *kept, rkb_case_t *drawn, double times, double threads, double most) {
   const double cost = drawn->operations + threads;
   if (times <= 1)
      return drawn;
   if (threads <= MOST_THREADS && (!kept->shape[SMALLEST] || drawn->operations < kept->cost[SMALLEST]))
      drawn = replace(kept, SMALLEST, drawn, drawn->operations);
   else if (cost <= most && times >= kept->times &&
            (!kept->shape[LARGER_GRID] || cost < kept->cost[LARGER_GRID]))
      drawn = replace(kept, LARGER_GRID, drawn, cost);
   else if (cost <= most && times > kept->blocks) {
      drawn = replace(kept, LARGEST, drawn, cost);
      kept->blocks = times;
   }
   return drawn;
}

/* Draws one shape and keeps it where it is better. */
static int consider(const struct verifier *me, const struct candidate *candidate, rkb_random_t *stream,
                    double most, struct kept *kept, rkb_error_t *err) {
   rkb_case_t *drawn = NULL;
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   int status = me->task->case_draw(me->host, stream, LARGER * me->config->drawn_work, &drawn, err);
   if (status != RKB_OK)
      return status;
   status = me->kernel->plan(me->host, candidate->job, candidate->item, candidate->build, drawn, &plan,
                             &finding, err);
   if (plan)
      drawn = keep(kept, drawn, times_resident(me, candidate, plan), (double)shapes_plan_threads(plan), most);
   if (plan)
      me->kernel->plan_free(plan);
   if (drawn)
      me->task->case_free(drawn);
   return status;
}

int waiting_grids_draw(const struct verifier *me, const struct candidate *candidate, double most,
                       rkb_case_t **drawn, uint32_t room, uint32_t *count, rkb_error_t *err) {
   rkb_random_t stream = me->random->for_job(me->host, candidate->job, STREAM_WAITING);
   struct kept kept = {.times = 2 + (double)me->random->below(&stream, 1000) / 1000};
   int status = RKB_OK;
   *count = 0;
   for (uint32_t n = 0; me->config->shapes > 0 && n < SEARCHED && status == RKB_OK; n++)
      status = consider(me, candidate, &stream, most, &kept, err);
   for (uint32_t n = 0; n < SHAPES; n++)
      if (kept.shape[n] && *count < room)
         drawn[(*count)++] = kept.shape[n];
      else if (kept.shape[n])
         me->task->case_free(kept.shape[n]);
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* nothing so small fits the domain */
}
