/* Shapes at which the manifest's expressions decide otherwise than at all others.
 *
 * A manifest can decide in place of the kernel: `D + 65536 * if(D % 64 == 45, 1, 0)` as an argument needs no comparison in the PTX, and varies with D anyway.
 * So each comparison, min, max and division of an expression is wanted on both of its sides: true and false, with a remainder and without.  What is
 * decided in one way alone at all shapes so far is solved for: the operands' distance is taken at a shape and at one beside it along a dim,
 * and the dim is moved to where the distance would be 0, or next to it.  Where that is no solution, because the distance is not linear there, the
 * dim is moved step by step.  A shape that is found may come to decisions that no other one came to; these follow in turn.  One thread. */
#include "verifier.h"

#include <stdlib.h>
#include <string.h>

#define MOST_DECISIONS 512u
#define MOST_SOLVED 8u  /* shapes */
#define MOST_TRIED 512u /* shapes, of which only the manifest is evaluated */
#define MOST_STEPS 96   /* along one dim, from one shape */
#define MOST_BASES 4u   /* shapes from which one decision is solved */

enum { MET_FALSE = 1, MET_TRUE = 2, MET_BOTH = 3 };

struct decision {
   uint64_t place;
   uint32_t met;
};

struct decisions {
   const struct verifier *verifier;
   const struct candidate *candidate;
   rkb_random_t stream;
   struct decision list[MOST_DECISIONS];
   uint32_t count, tried;
   /* What a shape decides of one decision, when it is asked for. */
   uint64_t wanted;
   uint32_t outcomes; /* MET_... */
   rkb_plan_decision_t last;
};

static void note(void *argument, const rkb_plan_decision_t *told) {
   struct decisions *d = argument;
   uint32_t n = 0;
   while (n < d->count && d->list[n].place != told->place)
      n++;
   if (n == MOST_DECISIONS)
      return;
   if (n == d->count)
      d->list[d->count++] = (struct decision){told->place, 0};
   d->list[n].met |= told->outcome ? MET_TRUE : MET_FALSE;
}

static void look(void *argument, const rkb_plan_decision_t *told) {
   struct decisions *d = argument;
   if (told->place != d->wanted)
      return;
   d->outcomes |= told->outcome ? MET_TRUE : MET_FALSE;
   d->last = *told;
}

static int evaluate(struct decisions *d, const rkb_case_t *shape,
                    void (*take)(void *argument, const rkb_plan_decision_t *told), rkb_error_t *err) {
   return d->verifier->kernel->plan_decisions(d->verifier->host, d->candidate->job, d->candidate->item,
                                              d->candidate->build, shape, take, d, err);
}

/* How far a decision is from its other side: 0 is the border. */
static bool distance_of(const rkb_plan_decision_t *decision, int64_t *distance) {
   if (!decision->divides)
      return !__builtin_sub_overflow(decision->left, decision->right, distance);
   *distance = decision->left % decision->right;
   return true;
}

/* Makes the shape with the dim at a value and evaluates it.  *made is NULL where it is not in the domain or is too much work. */
static int try_value(struct decisions *d, const rkb_case_t *base, uint32_t dim, int64_t value,
                     rkb_case_t **made, rkb_error_t *err) {
   *made = NULL;
   if (value < 1 || value == base->dims[dim].value || d->tried++ >= MOST_TRIED)
      return RKB_OK;
   int status = d->verifier->task->case_with_dim(d->verifier->host, base, &d->stream, dim, value,
                                                 shapes_most_work(d->verifier), made, err);
   d->outcomes = 0;
   if (status == RKB_OK)
      status = evaluate(d, *made, look, err);
   return status == RKB_ERR_LIMIT ? RKB_OK : status;
}

/* Moves one dim to where the decision goes the other way.  *found: that shape, or NULL. */
static int solve_along(struct decisions *d, const rkb_case_t *base, uint32_t dim, uint32_t met,
                       rkb_case_t **found, rkb_error_t *err) {
   const int64_t at = base->dims[dim].value;
   int64_t here, there, goals[8];
   uint32_t goal_count = 0;
   rkb_case_t *made = NULL;
   *found = NULL;
   d->outcomes = 0;
   int status = evaluate(d, base, look, err);
   if (status != RKB_OK || !d->outcomes || !distance_of(&d->last, &here))
      return status;
   for (int64_t step = 1; status == RKB_OK && !made && step <= 64; step *= 2)
      status = try_value(d, base, dim, at + step, &made, err);
   if (!made)
      return status;
   const int64_t moved = made->dims[dim].value - at;
   const bool known = d->outcomes && moved && distance_of(&d->last, &there),
              crossed = known && d->outcomes & ~met;
   if (crossed) {
      *found = made;
      return status;
   }
   d->verifier->task->case_free(made);
   if (!known || there == here)
      return status;
   for (int64_t aim = -1; aim <= 1; aim++) {
      const double away = (double)(aim - here) * (double)moved / (double)(there - here);
      if (away > -1e9 && away < 1e9) {
         goals[goal_count++] = at + (int64_t)away;
         goals[goal_count++] = at + (int64_t)away + (away < 0 ? -1 : 1);
      }
   }
   bool reached = false; /* some goal is a shape: step by step there may be others */
   for (uint32_t n = 0; status == RKB_OK && n < goal_count + (reached ? MOST_STEPS : 0); n++) {
      const int64_t step = (int64_t)n - goal_count;
      const int64_t value =
         n < goal_count ? goals[n] : at + (step % 2 ? -(step / 2 + 1) : step / 2 + 2) * moved;
      status = try_value(d, base, dim, value, &made, err);
      reached |= made != NULL;
      if (made && (d->outcomes & ~met)) {
         *found = made;
         return status;
      }
      if (made)
         d->verifier->task->case_free(made);
   }
   return status;
}

static int by_work(const void *a, const void *b) {
   const rkb_case_t *left = *(const rkb_case_t *const *)a, *right = *(const rkb_case_t *const *)b;
   return (left->operations > right->operations) - (left->operations < right->operations);
}

static int solve(struct decisions *d, const struct decision *decision, const rkb_case_t *const *known,
                 uint32_t known_count, rkb_case_t **found, rkb_error_t *err) {
   uint32_t bases = 0;
   int status = RKB_OK;
   *found = NULL;
   d->wanted = decision->place;
   for (uint32_t n = 0; n < known_count && bases < MOST_BASES && !*found && status == RKB_OK; n++) {
      d->outcomes = 0;
      status = evaluate(d, known[n], look, err);
      if (status != RKB_OK || !d->outcomes)
         continue;
      bases++;
      for (uint32_t dim = 0; dim < known[n]->dim_count && !*found && status == RKB_OK; dim++)
         status = solve_along(d, known[n], dim, decision->met, found, err);
   }
   return status;
}

int manifest_decisions_draw(const struct verifier *me, const struct candidate *candidate,
                            const rkb_case_t *const *known, uint32_t known_count, rkb_case_t **drawn,
                            uint32_t room, uint32_t *count, rkb_error_t *err) {
   *count = 0;
   if (me->config->shapes == 0 || !RKB_HAS(me->task, case_with_dim) || !RKB_HAS(me->kernel, plan_decisions))
      return RKB_OK;
   struct decisions *d = calloc(1, sizeof *d);
   const rkb_case_t **shapes = calloc(known_count + MOST_SOLVED, sizeof *shapes);
   int status = d && shapes ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for what a manifest decides");
   if (status != RKB_OK)
      goto out;
   *d = (struct decisions){.verifier = me, .candidate = candidate};
   d->stream = me->random->for_job(me->host, candidate->job, STREAM_DECISIONS);
   memcpy(shapes, known, known_count * sizeof *shapes);
   qsort(shapes, known_count, sizeof *shapes, by_work);
   for (uint32_t n = 0; n < known_count && status == RKB_OK; n++)
      status = evaluate(d, known[n], note, err);
   /* From a drawn decision on, so that an author cannot know which of many are left out. */
   const uint32_t old = d->count, first = old ? (uint32_t)me->random->below(&d->stream, old) : 0;
   for (uint32_t n = 0; n < d->count && *count < room && *count < MOST_SOLVED && status == RKB_OK; n++) {
      const struct decision *decision = &d->list[n < old ? (first + n) % old : n];
      rkb_case_t *found = NULL;
      if (decision->met != MET_BOTH)
         status = solve(d, decision, shapes, known_count + *count, &found, err);
      if (!found)
         continue;
      shapes[known_count + *count] = found;
      drawn[(*count)++] = found;
      status = status == RKB_OK ? evaluate(d, found, note, err) : status;
   }
out:
   free(d);
   free(shapes);
   return status;
}
