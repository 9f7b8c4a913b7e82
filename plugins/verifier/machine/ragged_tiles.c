/* A shape at which the tiles of a product make ragged groups, for kernels that copy tiles by tensor maps and multiply them by warpgroups.
 *
 * Such a kernel often takes its tiles in groups of rows, so that blocks that run at once share factors, and its blocks often go on with further tiles. Both
 * are easy to get wrong where the last group is not full.  Bench shapes are mostly powers of two, which every group divides, and the shapes that are executed
 * whole have too few tiles.  So some blocks are executed as at a bench shape, at one like it: two dims are a little more than 2,048, or than 4,096 where the
 * first makes fewer blocks, which are 17 tiles of 128 or 9 of 256, and the long ones among the others are 320, five terms of a ring.  The two dims are those
 * with most blocks.  The secret chooses the bench shape and the two sizes.  One worker thread a candidate. */
#include "verifier.h"

#include <stdlib.h>
#include <string.h>

#define MOST_DIMS 16u
#define LONG_DIM 512      /* of the bench shape: dims that are tiled, or that a loop goes along */
#define SHORT_LOOP 320
#define STEPS 14u         /* sizes of 8 more than the power of two, and so on */
#define FALLBACKS 2u      /* further sizes, for launches that ask for multiples of 64 or 128 */
#define LEAST_BLOCKS 100u /* fewer are no large grid */

struct ragged {
   const struct verifier *verifier;
   const struct candidate *candidate;
   const rkb_case_t *like;
   const rkb_plan_t *wanted; /* of like: the shape must have the same launches */
   rkb_random_t stream;
   rkb_case_t *best;
   uint64_t blocks; /* of best */
};

static bool copies_tiles(const struct candidate *candidate, const rkb_plan_t *plan) {
   bool found = false;
   for (uint32_t n = 0; n < plan->launch_count; n++)
      found |= rkb_machine_contains(candidate->module, plan->launches[n].entry, "wgmma.mma_async") &&
               rkb_machine_contains(candidate->module, plan->launches[n].entry, "cp.async.bulk.tensor");
   return found;
}

static bool same_launches(const struct candidate *candidate, const rkb_plan_t *one, const rkb_plan_t *other) {
   bool same = one->launch_count == other->launch_count;
   for (uint32_t n = 0; same && n < one->launch_count; n++)
      same = shapes_launch_name(candidate, &one->launches[n]) ==
             shapes_launch_name(candidate, &other->launches[n]);
   return same;
}

static int plan_of(const struct ragged *r, const rkb_case_t *shape, rkb_plan_t **plan, rkb_error_t *err) {
   const struct verifier *me = r->verifier;
   rkb_finding_t finding = {0};
   *plan = NULL;
   return me->kernel->plan(me->host, r->candidate->job, r->candidate->item, r->candidate->build, shape, plan,
                           &finding, err);
}

static uint64_t blocks_of(const rkb_plan_t *plan) {
   uint64_t blocks = 0;
   for (uint32_t n = 0; n < plan->launch_count; n++)
      blocks += (uint64_t)plan->launches[n].grid[0] * plan->launches[n].grid[1] * plan->launches[n].grid[2];
   return blocks;
}

/* Keeps the shape if it has the launches of the bench shape, and more blocks than the best so far, or as many and less work. */
static int consider(struct ragged *r, const int64_t *dims, bool *fits, rkb_error_t *err) {
   const struct verifier *me = r->verifier;
   rkb_case_t *made = NULL;
   rkb_plan_t *plan = NULL;
   int status =
      me->task->case_with_dims(me->host, r->like, &r->stream, dims, r->like->operations, &made, err);
   if (status == RKB_OK && made)
      status = plan_of(r, made, &plan, err);
   *fits = status == RKB_OK && plan && same_launches(r->candidate, plan, r->wanted);
   const uint64_t blocks = *fits ? blocks_of(plan) : 0;
   if (blocks >= LEAST_BLOCKS && (blocks > r->blocks || (blocks == r->blocks && r->best &&
                                                         made->operations < r->best->operations))) {
      rkb_case_t *worse = r->best;
      r->best = made;
      r->blocks = blocks;
      made = worse;
   }
   if (plan)
      me->kernel->plan_free(plan);
   if (made)
      me->task->case_free(made);
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* the domain does not have it */
}

/* Two dims a little more than a power of two. */
static int consider_pair(struct ragged *r, uint32_t one, uint32_t other, int64_t power, rkb_error_t *err) {
   int64_t dims[MOST_DIMS];
   bool fits = false;
   int status = RKB_OK;
   for (uint32_t d = 0; d < r->like->dim_count; d++)
      dims[d] = r->like->dims[d].value >= LONG_DIM ? SHORT_LOOP : r->like->dims[d].value;
   dims[one] = power + 8 * (1 + (int64_t)r->verifier->random->below(&r->stream, STEPS));
   dims[other] = power + 8 * (1 + (int64_t)r->verifier->random->below(&r->stream, STEPS));
   for (uint32_t n = 0; n <= FALLBACKS && status == RKB_OK && !fits; n++) {
      status = consider(r, dims, &fits, err);
      dims[one] = dims[other] = power + (n ? 128 : 64);
   }
   return status;
}

static int find(struct ragged *r, rkb_error_t *err) {
   const uint32_t count = r->like->dim_count;
   int status = RKB_OK;
   for (uint32_t one = 0; one < count; one++)
      for (uint32_t other = one + 1; other < count && status == RKB_OK; other++)
         for (int64_t power = 2048; power <= 4096 && status == RKB_OK; power *= 2)
            if (r->like->dims[one].value >= LONG_DIM && r->like->dims[other].value >= LONG_DIM)
               status = consider_pair(r, one, other, power, err);
   return status;
}

int ragged_tiles_draw(const struct verifier *me, const struct candidate *candidate, rkb_case_t **drawn,
                      rkb_error_t *err) {
   struct ragged r = {.verifier = me,
                      .candidate = candidate,
                      .stream = me->random->for_job(me->host, candidate->job, STREAM_RAGGED)};
   uint32_t cases = 0;
   rkb_plan_t *plan = NULL;
   *drawn = NULL;
   if (me->config->shapes == 0 || !RKB_HAS(me->task, case_with_dims))
      return RKB_OK;
   while (me->task->case_at(me->host, RKB_CASE_BENCH, cases))
      cases++;
   r.like = cases ? me->task->case_at(me->host, RKB_CASE_BENCH, me->random->below(&r.stream, cases)) : NULL;
   if (!r.like || r.like->dim_count > MOST_DIMS)
      return RKB_OK;
   int status = plan_of(&r, r.like, &plan, err);
   r.wanted = plan;
   if (status == RKB_OK && plan && copies_tiles(candidate, plan))
      status = find(&r, err);
   if (plan)
      me->kernel->plan_free(plan);
   if (status == RKB_OK)
      *drawn = r.best;
   else if (r.best)
      me->task->case_free(r.best);
   return status;
}
