/* Finds a shape of the domain that has a launch of a bench shape, if the smaller shapes like the bench shape lack that launch.  The shape is one of three: the
 * cheapest of many that are drawn, the smallest like the bench shape that has the launch, or the smallest that comes of halving dims of the bench shape as long
 * as the launch stays.  One worker thread a candidate. */
#include "reduced_shapes.h"

#define LEAST_WORK 1e6 /* operations: drawn_shapes.c reaches what takes fewer */
#define MOST_WORK 3e7
#define DRAWN_LARGER 3 /* so many times larger, if none of the drawn shapes had the launch */
#define STEP 0.6       /* share of a shape's operations that the next shape may have */
#define LEAST_DIM 3    /* of a shape that shows what becomes of several blocks */
#define DRAWS 96u      /* of which the one that seems to take least is executed */

bool launch_shapes_tell(const struct verifier *me, const rkb_case_t *shape) {
   bool tell = true;
   for (uint32_t d = 0; d < shape->dim_count; d++) {
      int64_t low = 1, high = LEAST_DIM;
      if (RKB_HAS(me->task, dim_range))
         me->task->dim_range(me->host, d, &low, &high);
      tell &= shape->dims[d].value >= (high < LEAST_DIM ? high : LEAST_DIM);
   }
   return tell;
}

/* About how much the launches do: every thread goes along the longest dim.  Tiles that a short dim leaves nearly empty cost as much as full ones. */
static double cost_of(const rkb_plan_t *plan, const rkb_case_t *shape) {
   int64_t longest = 1;
   for (uint32_t d = 0; d < shape->dim_count; d++)
      longest = shape->dims[d].value > longest ? shape->dims[d].value : longest;
   return (double)shapes_plan_threads(plan) * (double)longest;
}

/* Whether the candidate has the launch at the shape, and about what it costs there. */
static int has_launch(const struct reduced *r, const rkb_case_t *shape, const struct wanted_launch *wanted,
                      bool *has, double *cost, rkb_error_t *err) {
   const struct candidate *candidate = r->candidate;
   const bool tell = launch_shapes_tell(r->verifier, shape);
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   const int status = r->verifier->kernel->plan(r->verifier->host, candidate->job, candidate->item,
                                                candidate->build, shape, &plan, &finding, err);
   *has = false;
   for (uint32_t n = 0; status == RKB_OK && plan && n < plan->launch_count; n++)
      *has |= shapes_launch_name(candidate, &plan->launches[n]) == wanted->name &&
              (wanted->axis == ANY_AXIS || (plan->launches[n].grid[wanted->axis] > 1 && tell));
   *cost = *has ? cost_of(plan, shape) : 0;
   if (plan)
      r->verifier->kernel->plan_free(plan);
   return status;
}

/* Of shapes of so many operations at most, the one with the launch that seems to take least; *best is NULL where none has it. */
static int draw_with_launch(struct reduced *r, double work, const struct wanted_launch *wanted,
                            rkb_case_t **best, rkb_error_t *err) {
   const struct verifier *me = r->verifier;
   double least = 0;
   int status = RKB_OK;
   *best = NULL;
   for (uint32_t n = 0; n < DRAWS && status == RKB_OK; n++) {
      rkb_case_t *drawn = NULL;
      bool has = false;
      double cost = 0;
      status = me->task->case_draw(me->host, &r->stream, work, &drawn, err);
      if (status == RKB_OK)
         status = has_launch(r, drawn, wanted, &has, &cost, err);
      if (has && (!*best || cost < least)) {
         rkb_case_t *worse = *best;
         *best = drawn;
         drawn = worse;
         least = cost;
      }
      if (drawn)
         me->task->case_free(drawn);
   }
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* nothing so small fits the domain */
}

/* The same among ever larger shapes, until there is one. */
int launch_shapes_draw(struct reduced *r, const struct wanted_launch *wanted, rkb_case_t **best,
                       rkb_error_t *err) {
   int status = RKB_OK;
   *best = NULL;
   for (double work = LEAST_WORK; work <= MOST_WORK && !*best && status == RKB_OK; work *= DRAWN_LARGER)
      status = draw_with_launch(r, work, wanted, best, err);
   return status;
}

/* Tries ever larger shapes like the bench shape, with the same residues; at each size, every dim in turn stays as long as it is.  At the first size at which
 * some of them have the launch, takes the one that seems to take least.  Between them and the bench shape may lie shapes that lack the launch. */
int launch_shapes_reduce(struct reduced *r, const struct wanted_launch *wanted, rkb_case_t **best,
                         rkb_error_t *err) {
   const struct verifier *me = r->verifier;
   const rkb_case_t *bench = r->sample->the_case;
   double least = 0;
   int status = RKB_OK;
   *best = NULL;
   for (double work = LEAST_WORK; work <= MOST_WORK && !*best && status == RKB_OK; work *= DRAWN_LARGER)
      for (uint32_t longest = 0; longest <= bench->dim_count && status == RKB_OK;
           longest++) { /* dim_count: none */
         rkb_case_t *smaller = NULL;
         bool has = false;
         double cost = 0;
         status = me->task->case_reduced(me->host, bench, &r->stream, work, longest, &smaller, err);
         if (status == RKB_OK)
            status = has_launch(r, smaller, wanted, &has, &cost, err);
         if (has && (!*best || cost < least)) {
            rkb_case_t *worse = *best;
            *best = smaller;
            smaller = worse;
            least = cost;
         }
         if (smaller)
            me->task->case_free(smaller);
         if (status == RKB_ERR_LIMIT) /* nothing so small fits the domain */
            status = RKB_OK;
      }
   return status;
}

/* From the bench shape to a smaller one, again and again, as long as the launch stays; *best is NULL where it stays at none. */
int launch_shapes_descend(struct reduced *r, const struct wanted_launch *wanted, rkb_case_t **best,
                          rkb_error_t *err) {
   const struct verifier *me = r->verifier;
   const rkb_case_t *bench = r->sample->the_case;
   int status = RKB_OK;
   *best = NULL;
   for (uint32_t failed = 0, first = 0; failed <= bench->dim_count && status == RKB_OK;) {
      const rkb_case_t *from = *best ? *best : bench;
      if (!failed)
         first = (uint32_t)me->random->below(&r->stream, bench->dim_count + 1);
      const uint32_t longest =
         (first + failed) % (bench->dim_count + 1); /* dim_count: none; each has its turn */
      rkb_case_t *smaller = NULL;
      bool has = false;
      double cost = 0;
      status =
         me->task->case_reduced(me->host, from, &r->stream, STEP * from->operations, longest, &smaller, err);
      if (status == RKB_OK)
         status = has_launch(r, smaller, wanted, &has, &cost, err);
      failed = has ? 0 : failed + 1;
      if (has) {
         rkb_case_t *larger = *best;
         *best = smaller;
         smaller = larger;
      }
      if (smaller)
         me->task->case_free(smaller);
      if (status == RKB_ERR_LIMIT) /* nothing so small fits the domain */
         status = RKB_OK;
   }
   return status;
}
