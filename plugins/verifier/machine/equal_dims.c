/* Shapes with equal dims: one in which all dims are equal that the domain lets be, and one in which two are that the secret chooses.
 *
 * Sizes drawn one by one are hardly ever equal, so a kernel that mixes up two dims only where they are equal, or leaves its work undone
 * there, would not be seen.  In a domain of two dims both shapes are the same.  They are executed in addition to the other drawn shapes and
 * replace none.  One thread. */
#include "verifier.h"

#define DRAWS 3 /* of which the cheapest is taken: what the shapes show does not need long loops */

static int draw_one(const struct verifier *me, rkb_random_t *stream, bool all, rkb_case_t **best, rkb_error_t *err) {
   int status = RKB_OK;
   *best = NULL;
   for (uint32_t n = 0; n < DRAWS && status == RKB_OK; n++) {
      rkb_case_t *drawn = NULL;
      status = me->task->case_draw_equal(me->host, stream, shapes_most_work(me), all, &drawn, err);
      const bool better = drawn && (!*best || drawn->operations < (*best)->operations);
      if (better) {
         rkb_case_t *worse = *best;
         *best = drawn;
         drawn = worse;
      }
      if (drawn)
         me->task->case_free(drawn);
   }
   return status;
}

int equal_dims_draw(const struct verifier *me, const struct candidate *candidate, rkb_case_t **drawn, uint32_t room,
                    uint32_t *count, rkb_error_t *err) {
   *count = 0;
   if (me->config->shapes == 0 || !RKB_HAS(me->task, case_draw_equal))
      return RKB_OK;
   rkb_random_t stream = me->random->for_job(me->host, candidate->job, STREAM_EQUAL);
   const uint32_t asked = me->task->case_at(me->host, RKB_CASE_CHECK, 0)->dim_count > 2 ? 2 : 1;
   int status = RKB_OK;
   for (uint32_t n = 0; n < asked && *count < room && status == RKB_OK; n++) {
      status = draw_one(me, &stream, n == 0, &drawn[*count], err);
      *count += drawn[*count] != NULL;
   }
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* no two dims can be equal, or nothing so small fits the domain */
}
