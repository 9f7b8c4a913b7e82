/* Smaller shapes in place of drawn ones that took more than their budget in one run.  Code that a kernel executes at such a shape alone (D
 * % 8 == 4) would never be executed.  A shape like it keeps the residues of its dims (case_reduced).  It is executed if a condition of the
 * candidate has an outcome there that it had at no executed shape.  One thread. */
#include "shape_conditions.h"

#include <stdlib.h>

#define MOST_SMALLER 3u

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
   shape_conditions_close(&conditions);
   free(features);
   return status;
}
