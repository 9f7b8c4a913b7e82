/* Grids of blocks that wait for each other.  If a block waits for one that begins only when another block ends, it may wait for ever.  That
 * shows at shapes with more blocks than the target holds at once, which check cases need not have.  Plans of many shapes are made, and the
 * cheapest such shape is executed (docs/decisions/orders.md).  One thread. */
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

static bool too_many(const struct verifier *me, const struct candidate *candidate, const rkb_plan_t *plan) {
   uint32_t *resident = waiting_resident(me, candidate, plan);
   bool more = false;
   for (uint32_t n = 0; resident && n < plan->launch_count; n++) {
      const uint32_t *grid = plan->launches[n].grid;
      more |= (uint64_t)grid[0] * grid[1] * grid[2] > resident[n];
   }
   free(resident);
   return more && shapes_plan_threads(plan) <= MOST_THREADS;
}

/* Draws one shape and keeps it in best where it is cheaper. */
static int consider(const struct verifier *me, const struct candidate *candidate, rkb_random_t *stream,
                    rkb_case_t **best, rkb_error_t *err) {
   rkb_case_t *drawn = NULL;
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   int status = me->task->case_draw(me->host, stream, LARGER * me->config->drawn_work, &drawn, err);
   if (status != RKB_OK)
      return status;
   status = me->kernel->plan(me->host, candidate->job, candidate->item, candidate->build, drawn, &plan,
                             &finding, err);
   if (plan && too_many(me, candidate, plan) && (!*best || drawn->operations < (*best)->operations)) {
      rkb_case_t *worse = *best;
      *best = drawn;
      drawn = worse;
   }
   if (plan)
      me->kernel->plan_free(plan);
   if (drawn)
      me->task->case_free(drawn);
   return status;
}

int waiting_grids_draw(const struct verifier *me, const struct candidate *candidate, rkb_case_t **drawn,
                       rkb_error_t *err) {
   rkb_random_t stream = me->random->for_job(me->host, candidate->job, STREAM_WAITING);
   int status = RKB_OK;
   *drawn = NULL;
   for (uint32_t n = 0; me->config->shapes > 0 && n < SEARCHED && status == RKB_OK; n++)
      status = consider(me, candidate, &stream, drawn, err);
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* nothing so small fits the domain */
}
