/* Solves a kernel's conditions for sizes (size_solver.h).
 *
 * `3 * D + rows == 3715` contains no number that is a size.  The sides of a kernel's comparison are mostly polynomials of the dims.  So
 * their values at a few shapes around a known one show where the sides are equal.  Plans are made at these shapes, and the kernel's
 * instructions are followed.  A distance of second degree in one dim, or in two, is solved.  Any other distance, such as a remainder, is
 * followed along each dim, with arguments that are taken for polynomials.  In both cases the resulting shapes are guesses, and the caller
 * checks what is decided there. */
#include "size_solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_AXES 4u    /* dims that are gone along */
#define MOST_WANTED 48u /* conditions */
#define MOST_POINTS (1u + 4u * MOST_AXES + 3u * MOST_AXES * (MOST_AXES - 1) / 2)
#define MOST_ALONG 4096 /* shapes along a dim, of which only conditions are computed */
#define MOST_CURVE 4096 /* values of the first dim of a curve */
#define MOST_GUESSES 3u /* shapes for one condition in one way */
#define MOST_ARGUMENTS 64u
#define MOST_SEEN (4u * MOST_WANTED)

/* How far the points of an axis and those of a pair lie from the base, in steps. */
static const int64_t ALONG[4] = {1, 2, 5, 11}, ACROSS[3][2] = {{1, 1}, {3, 2}, {5, 7}};

struct axis {
   uint32_t dim, first; /* first: number of its first point */
   int64_t step;        /* that stays in the domain */
};

/* A shape along an axis. */
struct place {
   const struct axis *axis;
   int64_t u;
   double threads; /* of the launch */
};

struct wanted {
   uint32_t launch, kernel, number;
   bool polynomial; /* along each axis */
   double distances[MOST_POINTS];
   struct place found[MOST_GUESSES]; /* along axes: those with the fewest threads, fewest first */
   uint32_t found_count;
};

struct search {
   const struct size_solver *solver;
   const rkb_case_t *base;
   int64_t dims[MOST_SOLVED_DIMS], low[MOST_SOLVED_DIMS], high[MOST_SOLVED_DIMS];
   struct axis axes[MOST_AXES];
   uint32_t axis_count, pair_first; /* pair_first: number of the first point of a pair */
   rkb_plan_t *plans[MOST_POINTS];
   uint32_t point_count;
   struct wanted wanted[MOST_WANTED];
   uint32_t wanted_count;
   uint32_t launch, point; /* being measured */
   bool more;
};

/* Points -------------------------------------------------------------------------------------------------------------- */

/* The plan at a shape; NULL: it is not in the domain, or the candidate has none there. */
static int plan_at(const struct search *s, const int64_t *dims, rkb_plan_t **plan, rkb_error_t *err) {
   const struct verifier *me = s->solver->verifier;
   const struct candidate *candidate = s->solver->candidate;
   rkb_case_t *made = NULL;
   rkb_finding_t finding = {0};
   *plan = NULL;
   int status = me->task->case_with_dims(me->host, s->base, s->solver->stream, dims, INFINITY, &made, err);
   if (status == RKB_ERR_LIMIT || !made)
      return status == RKB_ERR_LIMIT ? RKB_OK : status;
   status = me->kernel->plan(me->host, candidate->job, candidate->item, candidate->build, made, plan,
                             &finding, err);
   me->task->case_free(made);
   return status;
}

/* Adds a point so many steps along two axes from the base. */
static int add_point(struct search *s, const struct axis *a, int64_t u, const struct axis *b, int64_t v,
                     rkb_error_t *err) {
   int64_t dims[MOST_SOLVED_DIMS];
   memcpy(dims, s->dims, sizeof dims);
   dims[a->dim] += u * a->step;
   if (b)
      dims[b->dim] += v * b->step;
   return plan_at(s, dims, &s->plans[s->point_count++], err);
}

/* A step of the dim by which all its points are in the domain. */
static int add_axis(struct search *s, uint32_t dim, rkb_error_t *err) {
   struct axis axis = {.dim = dim, .first = s->point_count};
   int status = RKB_OK;
   for (int64_t step = 1; step <= 64 && status == RKB_OK; step *= 2)
      for (int64_t sign = 1; sign >= -1 && status == RKB_OK; sign -= 2) {
         const int64_t end = s->dims[dim] + sign * step * ALONG[3];
         rkb_plan_t *plan = NULL;
         axis.step = sign * step;
         if (end < s->low[dim] || end > s->high[dim])
            continue;
         status = add_point(s, &axis, ALONG[0], NULL, 0, err);
         plan = s->plans[s->point_count - 1];
         if (status != RKB_OK || !plan) {
            s->point_count--;
            continue;
         }
         for (uint32_t n = 1; n < 4 && status == RKB_OK; n++)
            status = add_point(s, &axis, ALONG[n], NULL, 0, err);
         s->axes[s->axis_count++] = axis;
         return status;
      }
   return status;
}

static int make_points(struct search *s, rkb_error_t *err) {
   const uint32_t count = s->base->dim_count,
                  first = (uint32_t)s->solver->verifier->random->below(s->solver->stream, count ? count : 1);
   int status = plan_at(s, s->dims, &s->plans[s->point_count++], err);
   for (uint32_t n = 0; n < count && s->axis_count < MOST_AXES && status == RKB_OK && s->plans[0]; n++)
      if (s->low[(first + n) % count] < s->high[(first + n) % count])
         status = add_axis(s, (first + n) % count, err);
   s->pair_first = s->point_count;
   for (uint32_t a = 0; a < s->axis_count; a++)
      for (uint32_t b = a + 1; b < s->axis_count; b++)
         for (uint32_t n = 0; n < 3 && status == RKB_OK; n++)
            status = add_point(s, &s->axes[a], ACROSS[n][0], &s->axes[b], ACROSS[n][1], err);
   return status;
}

static void close_points(struct search *s) {
   for (uint32_t n = 0; n < s->point_count; n++)
      if (s->plans[n])
         s->solver->verifier->kernel->plan_free(s->plans[n]);
}

/* Conditions ---------------------------------------------------------------------------------------------------------- */

static struct wanted *find_wanted(struct search *s, uint32_t number) {
   for (uint32_t n = 0; n < s->wanted_count; n++)
      if (s->wanted[n].launch == s->launch && s->wanted[n].number == number)
         return &s->wanted[n];
   return NULL;
}

static void take_distance(void *argument, uint32_t number, bool outcome, double distance) {
   struct search *s = argument;
   struct wanted *w = find_wanted(s, number);
   (void)outcome;
   if (!w && s->point == 0 && s->wanted_count < MOST_WANTED) {
      w = &s->wanted[s->wanted_count++];
      *w = (struct wanted){
         .launch = s->launch, .kernel = s->plans[0]->launches[s->launch].kernel, .number = number};
      for (uint32_t n = 0; n < MOST_POINTS; n++)
         w->distances[n] = NAN;
   }
   if (w)
      w->distances[s->point] = distance;
}

static bool same_launch(const struct search *s, uint32_t point, uint32_t launch) {
   const rkb_plan_t *plan = s->plans[point], *base = s->plans[0];
   return plan && plan->launch_count == base->launch_count &&
          plan->launches[launch].kernel == base->launches[launch].kernel &&
          plan->launches[launch].argument_count == base->launches[launch].argument_count;
}

static void measure(struct search *s, const uint8_t *const *wanted) {
   const struct shape_conditions *c = s->solver->conditions;
   bool seen[MOST_KERNELS] = {false};
   for (s->launch = 0; s->launch < s->plans[0]->launch_count; s->launch++) {
      const uint32_t kernel = s->plans[0]->launches[s->launch].kernel;
      if (kernel >= MOST_KERNELS || seen[kernel] || !c->kernels[kernel] || !wanted[kernel])
         continue;
      seen[kernel] = true;
      for (s->point = 0; s->point < s->point_count; s->point++)
         if (same_launch(s, s->point, s->launch))
            rkb_machine_conditions_measure(c->kernels[kernel], &s->plans[s->point]->launches[s->launch],
                                           wanted[kernel], take_distance, s);
   }
}

/* Guesses -------------------------------------------------------------------------------------------------------------- */

static int guess(struct search *s, const struct wanted *w, const struct axis *a, int64_t u,
                 const struct axis *b, int64_t v, rkb_error_t *err) {
   int64_t dims[MOST_SOLVED_DIMS];
   memcpy(dims, s->dims, sizeof dims);
   dims[a->dim] += u * a->step;
   if (b)
      dims[b->dim] += v * b->step;
   for (uint32_t d = 0; d < s->base->dim_count; d++)
      if (dims[d] < s->low[d] || dims[d] > s->high[d])
         return RKB_OK;
   if (!s->more)
      return RKB_OK;
   s->solver->conditions->solved[w->kernel][w->number] = 1;
   return s->solver->take(s->solver->argument, s->base, dims, &s->more, err);
}

/* A parabola through three points: value at 0, and what grows with u and u². */
struct parabola {
   double zero, one, two;
};

/* By how much values of second degree may be off: rounded values by some of their digits. */
static double slack_of(const double *along) {
   double size = 0;
   for (uint32_t n = 0; n < 4; n++)
      size = fmax(size, fabs(along[n]));
   return size == floor(size) && along[0] == floor(along[0]) && along[1] == floor(along[1]) ? 0.25
                                                                                            : 1e-5 * size;
}

/* Whether the values along an axis are of second degree. */
static bool fit_axis(double at_base, const double *along, struct parabola *p) {
   const double slack = slack_of(along);
   p->zero = at_base;
   p->two = (along[1] - 2 * along[0] + at_base) / 2;
   p->one = along[0] - at_base - p->two;
   return fabs(p->zero + 5 * p->one + 25 * p->two - along[2]) < slack &&
          fabs(p->zero + 11 * p->one + 121 * p->two - along[3]) < slack;
}

static uint32_t roots_of(double a, double b, double c, double roots[2]) {
   const double under = b * b - 4 * a * c;
   if (a == 0 && b == 0)
      return 0;
   if (a == 0) {
      roots[0] = -c / b;
      return 1;
   }
   if (under < 0)
      return 0;
   roots[0] = (-b + sqrt(under)) / (2 * a);
   roots[1] = (-b - sqrt(under)) / (2 * a);
   return 2;
}

/* Where the sides are equal, and next to it. */
static int solve_axis(struct search *s, const struct wanted *w, const struct axis *axis,
                      const struct parabola *p, rkb_error_t *err) {
   double roots[2];
   int status = RKB_OK;
   const uint32_t count = roots_of(p->two, p->one, p->zero, roots);
   for (uint32_t n = 0; n < count; n++)
      for (int64_t beside = -1; beside <= 1 && status == RKB_OK && fabs(roots[n]) < 1e9; beside++)
         status = guess(s, w, axis, llround(roots[n]) + beside, NULL, 0, err);
   return status;
}

/* On the curve in two dims: the shape nearest to the base, and drawn ones. */
static int solve_pair(struct search *s, const struct wanted *w, const struct axis *a, const struct axis *b,
                      const struct parabola *p, const struct parabola *q, double both, rkb_error_t *err) {
   int64_t found[MOST_GUESSES][2], count = 0;
   const bool whole = p->zero == floor(p->zero) && p->one + p->two == floor(p->one + p->two) &&
                      q->one + q->two == floor(q->one + q->two) && both == floor(both);
   const double slack = whole ? 0 : 1e-6 * fmax(fabs(p->zero), 1);
   const int64_t first = a->step > 0 ? (s->low[a->dim] - s->dims[a->dim]) / a->step
                                     : (s->high[a->dim] - s->dims[a->dim]) / a->step;
   for (int64_t u = first; u < first + MOST_CURVE; u++) {
      double roots[2];
      const double x = (double)u, one = q->one + both * x, zero = p->zero + p->one * x + p->two * x * x;
      const int64_t at = s->dims[a->dim] + u * a->step;
      if (at < s->low[a->dim] || at > s->high[a->dim])
         break;
      for (uint32_t n = 0, several = roots_of(q->two, one, zero, roots); n < several; n++) {
         const double v = round(roots[n]), other = (double)s->dims[b->dim] + v * (double)b->step;
         if (other < (double)s->low[b->dim] || other > (double)s->high[b->dim] ||
             fabs(zero + one * v + q->two * v * v) > slack)
            continue;
         int64_t place = count++;
         if (place >= (int64_t)MOST_GUESSES)
            place = (int64_t)s->solver->verifier->random->below(s->solver->stream, (uint64_t)count);
         if (place < (int64_t)MOST_GUESSES) {
            found[place][0] = u;
            found[place][1] = (int64_t)v;
         }
      }
   }
   int status = RKB_OK;
   for (int64_t n = 0; n < count && n < (int64_t)MOST_GUESSES && status == RKB_OK; n++)
      status = guess(s, w, a, found[n][0], b, found[n][1], err);
   return status;
}

static int solve(struct search *s, struct wanted *w, rkb_error_t *err) {
   struct parabola along[MOST_AXES];
   uint32_t pair = s->pair_first;
   int status = RKB_OK;
   w->polynomial = true;
   for (uint32_t a = 0; a < s->axis_count; a++)
      w->polynomial &= fit_axis(w->distances[0], &w->distances[s->axes[a].first], &along[a]);
   for (uint32_t a = 0; a < s->axis_count && w->polynomial && status == RKB_OK && s->more; a++)
      status = solve_axis(s, w, &s->axes[a], &along[a], err);
   for (uint32_t a = 0; a < s->axis_count; a++)
      for (uint32_t b = a + 1; b < s->axis_count; b++, pair += 3) {
         const struct parabola *p = &along[a], *q = &along[b];
         const double both = w->distances[pair] - p->zero - p->one - p->two - q->one - q->two;
         bool holds =
            w->polynomial && (p->one != 0 || p->two != 0) && (q->one != 0 || q->two != 0 || both != 0);
         const double slack =
            fmax(slack_of(&w->distances[s->axes[a].first]), slack_of(&w->distances[s->axes[b].first]));
         for (uint32_t n = 1; n < 3 && holds; n++) {
            const double u = (double)ACROSS[n][0], v = (double)ACROSS[n][1];
            holds = fabs(p->zero + p->one * u + p->two * u * u + q->one * v + q->two * v * v + both * u * v -
                         w->distances[pair + n]) < slack;
         }
         if (holds && status == RKB_OK && s->more)
            status = solve_pair(s, w, &s->axes[a], &s->axes[b], p, q, both, err);
      }
   return status;
}

/* Along an axis --------------------------------------------------------------------------------------------------------- */

#define MOST_SIZES (MOST_ARGUMENTS + 7u) /* arguments, the grid, the block and the dynamic shared memory */

/* What a launch's arguments and sizes are along an axis. */
struct walk {
   struct search *search;
   rkb_plan_launch_t launch;
   rkb_plan_argument_t arguments[MOST_ARGUMENTS];
   struct parabola of[MOST_SIZES];
   bool changes[MOST_SIZES];
   struct place at;
   struct seen {
      uint32_t number;
      bool outcome;
   } seen[MOST_SEEN]; /* what was decided at the place that was last followed */
   uint32_t seen_count;
   uint64_t turns; /* that it took */
};

static uint32_t *size_at(rkb_plan_launch_t *launch, uint32_t n) {
   const uint32_t size = n - MOST_ARGUMENTS;
   return size < 3 ? &launch->grid[size] : size < 6 ? &launch->block[size - 3] : &launch->dynamic_shared;
}

static double value_of(const struct search *s, uint32_t point, uint32_t launch, uint32_t n) {
   const rkb_plan_launch_t *l = &s->plans[point]->launches[launch];
   rkb_plan_launch_t copy = *l;
   return n < MOST_ARGUMENTS ? (double)(int64_t)l->arguments[n].value : (double)*size_at(&copy, n);
}

static bool open_walk(struct walk *walk, struct search *s, uint32_t launch, const struct axis *axis) {
   const rkb_plan_launch_t *at = &s->plans[0]->launches[launch];
   walk->search = s;
   walk->launch = *at;
   if (at->argument_count > MOST_ARGUMENTS)
      return false;
   memcpy(walk->arguments, at->arguments, at->argument_count * sizeof *at->arguments);
   walk->launch.arguments = walk->arguments;
   walk->at.axis = axis;
   for (uint32_t n = 0; n < 4; n++)
      if (!same_launch(s, axis->first + n, launch))
         return false;
   for (uint32_t n = 0; n < MOST_SIZES; n++) {
      double along[4];
      walk->changes[n] = false;
      if (n < MOST_ARGUMENTS &&
          (n >= at->argument_count || at->arguments[n].buffer != UINT32_MAX || at->arguments[n].map))
         continue;
      for (uint32_t k = 0; k < 4; k++) {
         along[k] = value_of(s, axis->first + k, launch, n);
         walk->changes[n] |= along[k] != value_of(s, 0, launch, n);
      }
      walk->changes[n] &= fit_axis(value_of(s, 0, launch, n), along, &walk->of[n]);
   }
   return true;
}

static void step_to(struct walk *walk, int64_t u) {
   walk->at.u = u;
   for (uint32_t n = 0; n < MOST_SIZES; n++) {
      if (!walk->changes[n])
         continue;
      const double x = (double)u, value = walk->of[n].zero + walk->of[n].one * x + walk->of[n].two * x * x;
      if (n < MOST_ARGUMENTS)
         walk->arguments[n].value = (uint64_t)llround(value);
      else
         *size_at(&walk->launch, n) = value >= 1 && value < 4e9 ? (uint32_t)llround(value) : 1;
   }
   walk->at.threads = 1;
   for (uint32_t d = 0; d < 3; d++)
      walk->at.threads *= (double)walk->launch.grid[d] * walk->launch.block[d];
}

static void take_place(const struct walk *walk, uint32_t number, bool outcome) {
   const struct search *s = walk->search;
   struct wanted *w = find_wanted(walk->search, number);
   if (!w || s->solver->conditions->met[w->kernel][number] >> outcome & 1)
      return;
   uint32_t n = w->found_count < MOST_GUESSES ? w->found_count++ : MOST_GUESSES;
   for (; n > 0 && w->found[n - 1].threads > walk->at.threads; n--)
      if (n < MOST_GUESSES)
         w->found[n] = w->found[n - 1];
   if (n < MOST_GUESSES)
      w->found[n] = walk->at;
}

static void take_outcome(void *argument, uint32_t number, bool outcome, double distance) {
   struct walk *walk = argument;
   (void)distance;
   if (walk->seen_count < MOST_SEEN)
      walk->seen[walk->seen_count] = (struct seen){number, outcome};
   walk->seen_count++;
   take_place(walk, number, outcome);
}

static void follow(struct walk *walk, rkb_machine_conditions_t *conditions, const uint8_t *wanted) {
   const uint64_t *turns = &walk->search->solver->conditions->turns, before = *turns;
   walk->seen_count = 0;
   rkb_machine_conditions_measure(conditions, &walk->launch, wanted, take_outcome, walk);
   walk->turns = before - *turns;
}

/* A launch that differs from the present one in all that changes along the axis. */
static void make_other(const struct walk *walk, rkb_plan_launch_t *other,
                       rkb_plan_argument_t arguments[MOST_ARGUMENTS]) {
   *other = walk->launch;
   memcpy(arguments, walk->arguments, sizeof walk->arguments);
   other->arguments = arguments;
   for (uint32_t n = 0; n < MOST_SIZES; n++)
      if (walk->changes[n] && n < MOST_ARGUMENTS)
         arguments[n].value++;
      else if (walk->changes[n])
         ++*size_at(other, n);
}

/* Whether what changes along the axis decides nothing. */
static bool is_same_along(const struct walk *walk, const rkb_machine_conditions_t *conditions) {
   rkb_plan_argument_t arguments[MOST_ARGUMENTS];
   rkb_plan_launch_t other;
   make_other(walk, &other, arguments);
   return !rkb_machine_conditions_tell(conditions, &walk->launch, &other);
}

/* From here on along the axis, numbers that do not change along it stay. */
static void hold_along(const struct walk *walk, rkb_machine_conditions_t *conditions) {
   rkb_plan_argument_t arguments[MOST_ARGUMENTS];
   rkb_plan_launch_t other;
   make_other(walk, &other, arguments);
   rkb_machine_conditions_hold(conditions, &walk->launch, &other);
}

/* As at the place before, for as many turns. */
static void repeat(struct walk *walk) {
   walk->search->solver->conditions->turns -= walk->turns;
   for (uint32_t n = 0; n < walk->seen_count; n++)
      take_place(walk, walk->seen[n].number, walk->seen[n].outcome);
}

static int walk_axis(struct search *s, rkb_machine_conditions_t *conditions, const uint8_t *wanted,
                     const struct axis *axis, rkb_error_t *err) {
   struct walk *walk = malloc(sizeof *walk);
   int status = walk ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for sizes along a dim");
   if (status == RKB_OK && open_walk(walk, s, s->launch, axis)) {
      const int64_t low = s->low[axis->dim], high = s->high[axis->dim], step = llabs(axis->step),
                    first = s->dims[axis->dim] - (s->dims[axis->dim] - low) / step * step;
      const bool same = is_same_along(walk, conditions);
      for (int64_t n = 0, at = first; n < MOST_ALONG && at <= high; n++, at += step) {
         step_to(walk, (at - s->dims[axis->dim]) / axis->step);
         if (n && same && walk->seen_count <= MOST_SEEN && walk->turns < s->solver->conditions->turns)
            repeat(walk);
         else
            follow(walk, conditions, wanted);
         if (n == 0)
            hold_along(walk, conditions);
      }
      rkb_machine_conditions_hold(conditions, &walk->launch, NULL);
   }
   free(walk);
   return status;
}

/* The conditions of one launch that are no polynomials. */
static int walk_launch(struct search *s, uint32_t kernel, rkb_error_t *err) {
   uint8_t *rest = calloc(rkb_machine_conditions_numbers(s->solver->conditions->kernels[kernel]) + 1, 1);
   rkb_machine_conditions_t *own = NULL;
   int status = rest ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for conditions");
   bool any = false;
   for (uint32_t n = 0; rest && n < s->wanted_count; n++)
      if (s->wanted[n].launch == s->launch && !s->wanted[n].polynomial &&
          s->solver->conditions->met[kernel][s->wanted[n].number] != 3) {
         rest[s->wanted[n].number] = 1;
         any = true;
      }
   if (any)
      own = shape_conditions_read(s->solver->conditions, s->plans[0]->launches[s->launch].entry,
                                  s->solver->conditions->kernels[kernel]);
   if (own) {
      if (s->solver->conditions->follows)
         (void)rkb_machine_conditions_follow(own, &s->solver->conditions->turns);
      rkb_machine_conditions_keep(own, rest);
      for (uint32_t a = 0; a < s->axis_count && status == RKB_OK && s->more; a++)
         status = walk_axis(s, own, rest, &s->axes[a], err);
   }
   for (uint32_t w = 0; w < s->wanted_count; w++)
      for (uint32_t n = 0;
           n < s->wanted[w].found_count && s->wanted[w].launch == s->launch && status == RKB_OK; n++)
         status = guess(s, &s->wanted[w], s->wanted[w].found[n].axis, s->wanted[w].found[n].u, NULL, 0, err);
   rkb_machine_conditions_free(own);
   free(rest);
   return status;
}

/* Also floating-point numbers are looked for along the dims, since they are rounded. */
static bool is_smooth(const struct search *s, const struct wanted *w) {
   return rkb_machine_conditions_smooth(s->solver->conditions->kernels[w->kernel], w->number);
}

static int search_with(struct search *s, const uint8_t *const *wanted, bool again, rkb_error_t *err) {
   int status = make_points(s, err);
   if (status != RKB_OK || !s->plans[0])
      return status;
   measure(s, wanted);
   for (uint32_t n = 0; n < s->wanted_count && status == RKB_OK && s->more; n++)
      status = solve(s, &s->wanted[n], err);
   for (uint32_t n = 0; n < s->wanted_count; n++)
      s->wanted[n].polynomial &= is_smooth(s, &s->wanted[n]);
   for (uint32_t n = 0; n < s->wanted_count && status == RKB_OK && s->more && !again; n++)
      if (n == 0 || s->wanted[n].launch != s->wanted[n - 1].launch) {
         s->launch = s->wanted[n].launch;
         status = walk_launch(s, s->wanted[n].kernel, err);
      }
   return status;
}

int size_solver_search(const struct size_solver *solver, const rkb_case_t *base, bool again,
                       rkb_error_t *err) {
   const struct shape_conditions *c = solver->conditions;
   uint8_t *wanted[MOST_KERNELS] = {NULL};
   struct search *s = calloc(1, sizeof *s);
   int status = s ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for sizes that are solved for");
   bool any = false;
   for (uint32_t k = 0; k < MOST_KERNELS && status == RKB_OK; k++) {
      const uint32_t numbers = c->kernels[k] ? rkb_machine_conditions_numbers(c->kernels[k]) : 0;
      if (!numbers || !c->met[k] || !c->solved[k])
         continue;
      wanted[k] = calloc(numbers + 1, 1);
      if (!wanted[k])
         status = rkb_fail(err, RKB_ERR_NOMEM, "no memory for sizes that are solved for");
      for (uint32_t n = 0; wanted[k] && n < numbers; n++)
         any |= wanted[k][n] = again ? c->solved[k][n] : shape_conditions_is_wanted(c, k, n);
   }
   if (status == RKB_OK && any) {
      s->solver = solver;
      s->base = base;
      s->more = true;
      for (uint32_t d = 0; d < base->dim_count; d++) {
         s->dims[d] = base->dims[d].value;
         solver->verifier->task->dim_range(solver->verifier->host, d, &s->low[d], &s->high[d]);
      }
      status = search_with(s, (const uint8_t *const *)wanted, again, err);
      close_points(s);
   }
   for (uint32_t k = 0; k < MOST_KERNELS; k++)
      free(wanted[k]);
   free(s);
   return status;
}
