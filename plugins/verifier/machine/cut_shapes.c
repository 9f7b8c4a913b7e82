/* Smaller shapes in place of drawn ones that took more than their budget in one run.  Code that a kernel executes at such a shape alone (D
 * % 8 == 4) would never be executed.  A shape like it keeps the residues of its dims (case_reduced).  It is executed if a condition of the
 * candidate has an outcome there that it had at no executed shape.
 *
 * Code that is executed only above some size (K > 65) is lost if the dim becomes smaller.  So conditions that have an outcome at the cut shape alone are solved
 * for sizes, starting from the smallest shape like it and from the smallest check case.  One thread. */
#include "size_solver.h"

#include <stdlib.h>

#define MOST_SMALLER 3u
#define MOST_SOLVED 3u
#define SEARCHES 3u /* from each of two shapes */

/* Of the operations of the shape that was cut. */
static const double shares[] = {1.0 / 512, 1.0 / 64, 1.0 / 8};

/* Of the shapes like the one that was cut: the one with the most new outcomes, and of equal ones the smallest, where a kernel that wastes
 * time stands out most; NULL when none decides anything new. */
static int draw_like(const struct verifier *me, struct shape_conditions *conditions, rkb_random_t *stream,
                     const rkb_case_t *cut, rkb_case_t **best, rkb_error_t *err) {
   uint32_t most = WEIGHT_OF_CONDITION - 1, news = 0;
   int status = RKB_OK;
   *best = NULL;
   for (uint32_t n = 0; n < sizeof shares / sizeof *shares && status == RKB_OK; n++) {
      rkb_case_t *like = NULL;
      status =
         me->task->case_reduced(me->host, cut, stream, cut->operations * shares[n], UINT32_MAX, &like, err);
      if (status == RKB_ERR_LIMIT) { /* nothing so small fits the domain */
         status = RKB_OK;
         continue;
      }
      if (status == RKB_OK)
         status = shape_conditions_new(conditions, like, false, &news, err);
      if (status == RKB_OK && news > most) {
         rkb_case_t *worse = *best;
         *best = like;
         like = worse;
         most = news;
      }
      if (like)
         me->task->case_free(like);
   }
   if (*best && status == RKB_OK)
      status = shape_conditions_new(conditions, *best, true, &news, err);
   return status;
}

/* What takes shapes that were solved for. */
struct solved {
   const struct verifier *verifier;
   struct shape_conditions *conditions;
   rkb_random_t *stream;
   double work; /* of the shape that was cut */
   rkb_case_t **drawn;
   uint32_t count, room;
};

static int take_solved(void *argument, const rkb_case_t *base, const int64_t *dims, bool *more,
                       rkb_error_t *err) {
   struct solved *s = argument;
   const struct verifier *me = s->verifier;
   rkb_case_t *made = NULL;
   uint32_t news = 0;
   *more = true;
   int status = me->task->case_with_dims(me->host, base, s->stream, dims, s->work, &made, err);
   if (status == RKB_ERR_LIMIT || !made)
      return status == RKB_ERR_LIMIT ? RKB_OK : status; /* not in the domain, or too much work */
   status = shape_conditions_new(s->conditions, made, false, &news, err);
   if (status != RKB_OK || news < WEIGHT_OF_CONDITION) {
      me->task->case_free(made);
      return status;
   }
   s->drawn[s->count++] = made;
   *more = s->count < s->room;
   return shape_conditions_new(s->conditions, made, true, &news, err);
}

/* Solves for what is decided at the shape that was cut alone. */
static int solve_lost(struct solved *s, const rkb_case_t *cut, const rkb_case_t *base, rkb_error_t *err) {
   const struct size_solver solver = {
      s->verifier, s->conditions->candidate, s->conditions, s->stream, take_solved, s};
   bool lost = false;
   s->work = cut->operations;
   int status = s->count < s->room ? shape_conditions_seek(s->conditions, cut, &lost, err) : RKB_OK;
   if (lost && status == RKB_OK)
      status = size_solver_search(&solver, base, true, err);
   return status;
}

/* More than once: a search goes along some of the dims, from one that is drawn on. */
static int solve_each(struct solved *s, const rkb_case_t *const *cut, uint32_t cut_count, rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   const rkb_case_t *smallest = shapes_smallest_check_case(me);
   int status = RKB_OK;
   for (uint32_t n = 0; n < cut_count && status == RKB_OK && smallest; n++) {
      rkb_case_t *like = NULL;
      status = me->task->case_reduced(me->host, cut[n], s->stream, cut[n]->operations * shares[0], UINT32_MAX,
                                      &like, err);
      if (status == RKB_ERR_LIMIT) /* nothing so small fits the domain */
         status = RKB_OK;
      for (uint32_t turn = 0; turn < 2 * SEARCHES && status == RKB_OK; turn++)
         status = solve_lost(s, cut[n], turn % 2 == 0 && like ? like : smallest, err);
      if (like)
         me->task->case_free(like);
   }
   return status;
}

int cut_shapes_draw(const struct verifier *me, const struct candidate *candidate,
                    const rkb_case_t *const *executed, uint32_t executed_count, const rkb_case_t *const *cut,
                    uint32_t cut_count, rkb_case_t **drawn, uint32_t room, uint32_t *count,
                    rkb_error_t *err) {
   *count = 0;
   if (!cut_count || !RKB_HAS(me->task, case_reduced))
      return RKB_OK;
   rkb_random_t stream = me->random->for_job(me->host, candidate->job, STREAM_CUT);
   struct shape_features *features = malloc(sizeof *features);
   if (!features)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the features of shapes");
   shape_features_open(features, me);
   struct shape_conditions conditions;
   uint32_t news;
   int status = shape_conditions_open(&conditions, me, candidate, features, err);
   for (uint32_t n = 0; n < executed_count && status == RKB_OK; n++)
      status = shape_conditions_new(&conditions, executed[n], true, &news, err);
   for (uint32_t n = 0; n < cut_count && *count < room && *count < MOST_SMALLER && status == RKB_OK; n++) {
      status = draw_like(me, &conditions, &stream, cut[n], &drawn[*count], err);
      *count += drawn[*count] != NULL;
   }
   struct solved solved = {
      .verifier = me, .conditions = &conditions, .stream = &stream, .drawn = drawn + *count};
   solved.room = room - *count < MOST_SOLVED ? room - *count : MOST_SOLVED;
   if (status == RKB_OK && RKB_HAS(me->task, dim_range) && cut[0]->dim_count <= MOST_SOLVED_DIMS)
      status = solve_each(&solved, cut, cut_count, err);
   *count += solved.count;
   shape_conditions_close(&conditions);
   free(features);
   return status;
}
