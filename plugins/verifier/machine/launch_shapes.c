/* Finds a shape of the domain that has a launch of a bench shape, if the smaller shapes like the bench shape lack that launch.  The shape is one of three: the
 * cheapest of many that are drawn, the smallest like the bench shape that has the launch, or the smallest that comes of halving dims of the bench shape as long
 * as the launch stays.  One worker thread a candidate. */
#include "reduced_shapes.h"

#include <stdlib.h>

#define LEAST_WORK 1e6 /* operations: drawn_shapes.c reaches what takes fewer */
#define MOST_WORK 3e7
#define DRAWN_LARGER 3 /* so many times larger, if none of the drawn shapes had the launch */
#define LEVELS 4u      /* sizes from LEAST_WORK to MOST_WORK */
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

static bool fits(const struct wanted_launch *wanted, uint64_t name, uint32_t axes) {
   return name == wanted->name && (wanted->axis == ANY_AXIS || (axes >> wanted->axis & 1));
}

/* A bit for each axis of its grid along which the launch has several blocks, if the shape shows what becomes of them. */
static uint32_t told_axes(const rkb_plan_launch_t *launch, bool tell) {
   uint32_t axes = 0;
   for (uint32_t d = 0; d < 3; d++)
      axes |= (uint32_t)(launch->grid[d] > 1 && tell) << d;
   return axes;
}

static int plan_at(const struct reduced *r, const rkb_case_t *shape, rkb_plan_t **plan, rkb_error_t *err) {
   rkb_finding_t finding = {0};
   *plan = NULL;
   return r->verifier->kernel->plan(r->verifier->host, r->candidate->job, r->candidate->item,
                                    r->candidate->build, shape, plan, &finding, err);
}

/* Whether the candidate has the launch at the shape, and about what it costs there. */
static int has_launch(const struct reduced *r, const rkb_case_t *shape, const struct wanted_launch *wanted,
                      bool *has, double *cost, rkb_error_t *err) {
   const bool tell = launch_shapes_tell(r->verifier, shape);
   rkb_plan_t *plan = NULL;
   const int status = plan_at(r, shape, &plan, err);
   *has = false;
   for (uint32_t n = 0; status == RKB_OK && plan && n < plan->launch_count; n++)
      *has |= fits(wanted, shapes_launch_name(r->candidate, &plan->launches[n]),
                   told_axes(&plan->launches[n], tell));
   *cost = *has ? cost_of(plan, shape) : 0;
   if (plan)
      r->verifier->kernel->plan_free(plan);
   return status;
}

/* Drawn shapes ------------------------------------------------------------------------------------------------------ */

/* Shapes are drawn once for all launches that are looked for, because to draw and plan a network's shape takes milliseconds.  A shape itself is dropped, and
 * drawn again from the same numbers if it is executed. */
struct drawn_launch {
   uint64_t name;
   uint32_t axes; /* told_axes() */
};

struct drawn_shape {
   rkb_random_t stream; /* as it was before the shape was drawn */
   double cost;
   struct drawn_launch *launches;
   uint32_t count;
};

struct drawn_level {
   struct drawn_shape shapes[DRAWS];
   uint32_t count;
   bool drawn;
};

struct launch_draws {
   struct drawn_level levels[LEVELS];
};

static int note_launches(const struct reduced *r, const rkb_case_t *shape, struct drawn_shape *drawn,
                         rkb_error_t *err) {
   const bool tell = launch_shapes_tell(r->verifier, shape);
   rkb_plan_t *plan = NULL;
   int status = plan_at(r, shape, &plan, err);
   if (status == RKB_OK && plan) {
      drawn->cost = cost_of(plan, shape);
      drawn->launches = calloc((size_t)plan->launch_count + 1, sizeof *drawn->launches);
      if (!drawn->launches)
         status = rkb_fail(err, RKB_ERR_NOMEM, "no memory for the launches of a shape");
      for (uint32_t n = 0; drawn->launches && n < plan->launch_count; n++)
         drawn->launches[drawn->count++] =
            (struct drawn_launch){shapes_launch_name(r->candidate, &plan->launches[n]),
                                  told_axes(&plan->launches[n], tell)};
   }
   if (plan)
      r->verifier->kernel->plan_free(plan);
   return status;
}

/* Draws the shapes of so many operations at most, unless they were drawn before. */
static int draw_level(struct reduced *r, double work, struct drawn_level *level, rkb_error_t *err) {
   const struct verifier *me = r->verifier;
   int status = RKB_OK;
   for (uint32_t n = 0; !level->drawn && n < DRAWS && status == RKB_OK; n++) {
      struct drawn_shape *drawn = &level->shapes[n];
      rkb_case_t *shape = NULL;
      drawn->stream = r->stream;
      status = me->task->case_draw(me->host, &r->stream, work, &shape, err);
      if (status == RKB_OK)
         status = note_launches(r, shape, drawn, err);
      level->count += status == RKB_OK;
      if (shape)
         me->task->case_free(shape);
   }
   level->drawn = true;
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* nothing so small fits the domain */
}

/* Of shapes of so many operations at most, the one with the launch that seems to take least; *best is NULL where none has it. */
static int draw_with_launch(struct reduced *r, double work, struct drawn_level *level,
                            const struct wanted_launch *wanted, rkb_case_t **best, rkb_error_t *err) {
   const struct drawn_shape *cheapest = NULL;
   const int status = draw_level(r, work, level, err);
   for (uint32_t n = 0; n < level->count && status == RKB_OK; n++) {
      const struct drawn_shape *drawn = &level->shapes[n];
      bool has = false;
      for (uint32_t k = 0; k < drawn->count; k++)
         has |= fits(wanted, drawn->launches[k].name, drawn->launches[k].axes);
      if (has && (!cheapest || drawn->cost < cheapest->cost))
         cheapest = drawn;
   }
   if (!cheapest || status != RKB_OK)
      return status;
   rkb_random_t stream = cheapest->stream;
   return r->verifier->task->case_draw(r->verifier->host, &stream, work, best, err);
}

/* The same among ever larger shapes, until there is one. */
int launch_shapes_draw(struct reduced *r, const struct wanted_launch *wanted, rkb_case_t **best,
                       rkb_error_t *err) {
   int status = RKB_OK;
   uint32_t level = 0;
   *best = NULL;
   if (!r->draws)
      r->draws = calloc(1, sizeof *r->draws);
   if (!r->draws)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for drawn shapes");
   for (double work = LEAST_WORK; level < LEVELS && !*best && status == RKB_OK; work *= DRAWN_LARGER)
      status = draw_with_launch(r, work, &r->draws->levels[level++], wanted, best, err);
   return status;
}

void launch_draws_free(struct launch_draws *draws) {
   for (uint32_t level = 0; draws && level < LEVELS; level++)
      for (uint32_t n = 0; n < DRAWS; n++)
         free(draws->levels[level].shapes[n].launches);
   free(draws);
}

/* Shapes like the bench shape ---------------------------------------------------------------------------------------- */

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
