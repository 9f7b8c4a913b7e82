/* Shapes at which a bound on a launch's grid takes effect, and one at which there is no launch.
 *
 * `grid: min(rows, 2048)` is right for a kernel whose blocks go on with the next rows and wrong for one whose blocks do not, and the
 * two differ only at shapes with more rows, which check cases need not have.  Such a bound shows without any execution.  Plans of many
 * shapes are made, small and large.  An extent of a grid counts as bounded when several shapes that have no dim in common have the same
 * extent, and it is the largest of all.  Then a cheap one of several shapes that reach the bound is executed whole.  One shape serves all
 * bounds that it reaches, because where every launch has a bound, a shape for each would cost more than all other cases.  A shape that the
 * candidate has no plan for is a finding wherever it lies in the domain.  One thread. */
#include "verifier.h"

#include <stdlib.h>
#include <string.h>

#define MOST_AXES 64 /* a bit each in a mask */
#define MOST_DIMS 32
#define SURVEYED 96             /* shapes of any size */
#define MOST_SURVEYED 384       /* if at least two shapes share the most blocks, but too few to tell */
#define SURVEY_WORK 1e12        /* operations of those: only their plans are made */
#define BOUND_LEAST 64u         /* fewer blocks are what many shapes have without a bound */
#define BOUND_SHAPES 4u         /* that share an extent, for it to count as a bound */
#define SEARCHED 768            /* shapes, for those that come to a bound and are small */
#define LARGER 100              /* times the work of other drawn shapes */
#define MOST_THREADS (1u << 20) /* of a plan that is executed for this */
#define ENOUGH 8u               /* shapes that come to a bound, among which a cheap one is looked for */
#define MOST_MET 512u           /* ENOUGH for each axis */

/* One axis of one launch's grid, over the shapes surveyed. */
struct axis {
   uint64_t launch; /* shapes_launch_name */
   uint32_t axis, least, most;
   uint32_t shapes;         /* that have the most blocks */
   int64_t dims[MOST_DIMS]; /* of the first of those */
   uint32_t alike;          /* bit d: they all have the same dim d */
   uint32_t met;            /* found in the search */
};

/* A shape that comes to bounds. */
struct meeting {
   rkb_case_t *shape; /* owned */
   uint64_t met;      /* axes, a bit each */
   double cost;
};

struct bounds {
   const struct verifier *verifier;
   const struct candidate *candidate;
   struct axis axes[MOST_AXES];
   uint32_t count;
   int64_t first[MOST_DIMS]; /* dims of the first shape surveyed */
   uint32_t varying;         /* bit d: some shape has another dim d */
   bool surveyed;
   rkb_case_t *unplanned; /* the first that the candidate has no plan for; owned */
   struct meeting meetings[MOST_MET];
   uint32_t meeting_count;
};

static uint32_t differing(const rkb_case_t *the_case, const int64_t *dims) {
   uint32_t different = 0;
   for (uint32_t d = 0; d < the_case->dim_count && d < MOST_DIMS; d++)
      different |= the_case->dims[d].value != dims[d] ? 1u << d : 0;
   return different;
}

static void copy_dims(const rkb_case_t *the_case, int64_t *dims) {
   for (uint32_t d = 0; d < the_case->dim_count && d < MOST_DIMS; d++)
      dims[d] = the_case->dims[d].value;
}

static struct axis *axis_of(struct bounds *b, uint64_t launch, uint32_t axis) {
   for (uint32_t n = 0; n < b->count; n++)
      if (b->axes[n].launch == launch && b->axes[n].axis == axis)
         return &b->axes[n];
   if (b->count == MOST_AXES)
      return NULL;
   b->axes[b->count] = (struct axis){.launch = launch, .axis = axis, .least = UINT32_MAX};
   return &b->axes[b->count++];
}

static void survey_axis(struct axis *axis, uint32_t blocks, const rkb_case_t *the_case) {
   axis->least = blocks < axis->least ? blocks : axis->least;
   if (blocks > axis->most) {
      axis->most = blocks;
      axis->shapes = 0;
      axis->alike = UINT32_MAX;
      copy_dims(the_case, axis->dims);
   }
   if (blocks == axis->most) {
      axis->shapes++;
      axis->alike &= ~differing(the_case, axis->dims);
   }
}

static void survey_plan(struct bounds *b, const rkb_plan_t *plan, const rkb_case_t *the_case) {
   if (!b->surveyed)
      copy_dims(the_case, b->first);
   b->surveyed = true;
   b->varying |= differing(the_case, b->first);
   for (uint32_t n = 0; n < plan->launch_count; n++)
      for (uint32_t d = 0; d < 3; d++) {
         struct axis *axis = axis_of(b, shapes_launch_name(b->candidate, &plan->launches[n]), d);
         if (axis)
            survey_axis(axis, plan->launches[n].grid[d], the_case);
      }
}

/* Whether two shapes share the most blocks of some axis, and not yet enough to tell. */
static bool may_be_bounded(const struct bounds *b) {
   bool open = false;
   for (uint32_t n = 0; n < b->count; n++) {
      const struct axis *axis = &b->axes[n];
      open |= axis->most >= BOUND_LEAST && axis->least < axis->most && axis->shapes > 1 &&
              axis->shapes < BOUND_SHAPES;
   }
   return open;
}

static bool bounded(const struct bounds *b, const struct axis *axis) {
   return axis->most >= BOUND_LEAST && axis->least < axis->most && axis->shapes >= BOUND_SHAPES &&
          (axis->alike & b->varying) == 0;
}

/* Bit n: axis n is bounded, has been tested with too few shapes, and reaches its bound in this plan. */
static uint64_t met_by(const struct bounds *b, const rkb_plan_t *plan, uint64_t wanted) {
   uint64_t met = 0;
   for (uint32_t n = 0; n < plan->launch_count; n++) {
      const rkb_plan_launch_t *launch = &plan->launches[n];
      for (uint32_t a = 0; a < b->count; a++)
         if ((wanted >> a & 1) && b->axes[a].launch == shapes_launch_name(b->candidate, launch) &&
             launch->grid[b->axes[a].axis] == b->axes[a].most)
            met |= 1ull << a;
   }
   return shapes_plan_threads(plan) <= MOST_THREADS ? met : 0;
}

/* Makes the plan of a shape, which is freed or kept where there is none; both are NULL then. */
static int plan_shape(struct bounds *b, rkb_case_t **drawn, rkb_plan_t **plan, rkb_error_t *err) {
   const struct verifier *me = b->verifier;
   rkb_finding_t finding = {0};
   int status = me->kernel->plan(me->host, b->candidate->job, b->candidate->item, b->candidate->build, *drawn,
                                 plan, &finding, err);
   if (status == RKB_OK && *plan)
      return RKB_OK;
   if (status == RKB_OK && !b->unplanned && shapes_must_have_plan(&finding))
      b->unplanned = *drawn;
   else
      me->task->case_free(*drawn);
   *drawn = NULL;
   return status;
}

static int draw(struct bounds *b, rkb_random_t *stream, double work, rkb_case_t **drawn, rkb_plan_t **plan,
                rkb_error_t *err) {
   *plan = NULL;
   int status = b->verifier->task->case_draw(b->verifier->host, stream, work, drawn, err);
   return status == RKB_OK ? plan_shape(b, drawn, plan, err) : status;
}

static int survey(struct bounds *b, rkb_random_t *stream, uint64_t *wanted, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t n = 0; status == RKB_OK && (n < SURVEYED || (n < MOST_SURVEYED && may_be_bounded(b))); n++) {
      rkb_case_t *drawn = NULL;
      rkb_plan_t *plan = NULL;
      status = draw(b, stream, SURVEY_WORK, &drawn, &plan, err);
      if (!plan)
         continue;
      survey_plan(b, plan, drawn);
      b->verifier->kernel->plan_free(plan);
      b->verifier->task->case_free(drawn);
   }
   *wanted = 0;
   for (uint32_t n = 0; n < b->count; n++)
      *wanted |= bounded(b, &b->axes[n]) ? 1ull << n : 0;
   return status;
}

/* About how much the plan does: every thread goes along the longest dim. */
static double cost_of(const rkb_plan_t *plan, const rkb_case_t *shape) {
   int64_t longest = 1;
   for (uint32_t d = 0; d < shape->dim_count; d++)
      longest = shape->dims[d].value > longest ? shape->dims[d].value : longest;
   return (double)shapes_plan_threads(plan) * (double)longest;
}

/* Notes that the shape comes to bounds; returns those that have enough shapes now. */
static uint64_t note_meeting(struct bounds *b, rkb_case_t *shape, uint64_t met, double cost) {
   uint64_t enough = 0;
   b->meetings[b->meeting_count++] = (struct meeting){.shape = shape, .met = met, .cost = cost};
   for (uint64_t left = met; left; left &= left - 1) {
      const uint32_t a = (uint32_t)__builtin_ctzll(left);
      enough |= ++b->axes[a].met >= ENOUGH ? 1ull << a : 0;
   }
   return enough;
}

/* Draws shapes until there are enough for each bound that is wanted. */
static int search(struct bounds *b, rkb_random_t *stream, uint64_t wanted, rkb_error_t *err) {
   const struct verifier *me = b->verifier;
   int status = RKB_OK;
   for (uint32_t n = 0; n < SEARCHED && wanted && status == RKB_OK && b->meeting_count < MOST_MET; n++) {
      rkb_case_t *drawn = NULL;
      rkb_plan_t *plan = NULL;
      status = draw(b, stream, LARGER * me->config->drawn_work, &drawn, &plan, err);
      if (!plan)
         continue;
      const uint64_t met = met_by(b, plan, wanted);
      const double cost = cost_of(plan, drawn);
      me->kernel->plan_free(plan);
      if (met)
         wanted &= ~note_meeting(b, drawn, met, cost);
      else
         me->task->case_free(drawn);
   }
   return status;
}

/* Takes the shape that costs least for each bound that no other one has come to yet; NULL: none is left that does. */
static rkb_case_t *take_cheapest(struct bounds *b, uint64_t *left) {
   struct meeting *best = NULL;
   double least = 0;
   for (uint32_t n = 0; n < b->meeting_count; n++) {
      struct meeting *m = &b->meetings[n];
      const double each = m->met & *left ? m->cost / __builtin_popcountll(m->met & *left) : 0;
      if (m->shape && (m->met & *left) && (!best || each < least)) {
         best = m;
         least = each;
      }
   }
   if (!best)
      return NULL;
   rkb_case_t *shape = best->shape;
   *left &= ~best->met;
   best->shape = NULL;
   return shape;
}

int bounded_grids_draw(const struct verifier *me, const struct candidate *candidate, rkb_case_t **drawn,
                       uint32_t room, uint32_t *count, rkb_error_t *err) {
   rkb_random_t stream = me->random->for_job(me->host, candidate->job, STREAM_BOUNDED);
   struct bounds *b = calloc(1, sizeof *b);
   rkb_case_t *shape;
   uint64_t wanted = 0;
   *count = 0;
   if (!b)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the grids of a candidate");
   b->verifier = me;
   b->candidate = candidate;
   int status = me->config->shapes > 0 ? survey(b, &stream, &wanted, err) : RKB_OK;
   if (status == RKB_OK && wanted)
      status = search(b, &stream, wanted, err);
   if (status == RKB_ERR_LIMIT) /* nothing so small fits the domain */
      status = RKB_OK;
   if (b->unplanned && *count < room)
      drawn[(*count)++] = b->unplanned;
   else if (b->unplanned)
      me->task->case_free(b->unplanned);
   while (*count < room && (shape = take_cheapest(b, &wanted)) != NULL)
      drawn[(*count)++] = shape;
   for (uint32_t n = 0; n < b->meeting_count; n++)
      if (b->meetings[n].shape)
         me->task->case_free(b->meetings[n].shape);
   free(b);
   return status;
}
