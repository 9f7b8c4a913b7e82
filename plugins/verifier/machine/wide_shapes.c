/* Shapes with many blocks that are too much work to be executed whole: corners of the domain (domain_corners.c), and shapes at which the manifest or the kernels
 * decide something that they decide nowhere else.  A run of such a shape ends as soon as some of its blocks tell that all of them take too much (cases.c).  Then
 * blocks are sampled as at a bench shape: what they write is judged, and races are looked for in a few of them.  The sample has one block of each kind that the
 * kernel tells apart by their places.  If the results of the sampled blocks depend on others, the shape is executed whole after all.
 * docs/decisions/drawn-shapes.md.  One worker thread a candidate. */
#include "bench_values.h"

#define MANY_BLOCKS 64u /* of a launch */
#define FEW_BLOCKS 8u   /* of each other launch: a sample has all of them, so what they write is known */
#define WHOLE_BUDGET 1000000000u

int wide_shapes_has_many_blocks(const struct verifier *me, const struct candidate *candidate,
                                const rkb_case_t *shape, bool *many, rkb_error_t *err) {
   rkb_finding_t finding = {0};
   rkb_plan_t *plan = NULL;
   uint32_t large = 0, small = 0;
   const int status = me->kernel->plan(me->host, candidate->job, candidate->item, candidate->build, shape,
                                       &plan, &finding, err);
   for (uint32_t n = 0; plan && n < plan->launch_count; n++) {
      const uint32_t *grid = plan->launches[n].grid;
      const uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2];
      large += blocks > MANY_BLOCKS;
      small += blocks <= FEW_BLOCKS;
   }
   *many = plan && large == 1 && small + 1 == plan->launch_count;
   if (plan)
      me->kernel->plan_free(plan);
   return status;
}

static int execute_whole(const struct verifier *me, struct candidate *candidate, const rkb_case_t *shape,
                         struct outcome *outcome, rkb_error_t *err) {
   struct candidate own = *candidate;
   struct outcome found;
   outcome_init(&found, outcome->debug);
   own.budget = own.budget < WHOLE_BUDGET ? own.budget : WHOLE_BUDGET;
   const int status = case_run(me, &own, shape, &found, err);
   candidate->budget -= found.work < candidate->budget ? found.work : candidate->budget;
   found.orders = outcome->orders; /* the check cases had them */
   if (status == RKB_OK)
      outcome_join(outcome, &found);
   outcome_free(&found);
   return status;
}

int wide_shapes_judge(const struct verifier *me, struct candidate *candidate, struct outcome *outcome,
                      rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t n = 0; n < candidate->wide_count && status == RKB_OK && outcome->rank == 0; n++) {
      rkb_case_t *shape = candidate->wide[n];
      uint64_t judged;
      bool all;
      status = large_offsets_judge_shape(me, candidate, shape, FAR_INDEX - 1 - MOST_LARGE - n, true, outcome,
                                         &judged, &all, err);
      if (status == RKB_OK && !all && outcome->rank == 0)
         status = execute_whole(me, candidate, shape, outcome, err);
   }
   return status;
}
