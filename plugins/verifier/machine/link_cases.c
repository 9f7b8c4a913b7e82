/* Chooses the cases at which links are searched, and finds what these cases distinguish.  If one of two dims has a single element, both
 * orders of the two have the same layout in a buffer.  If the task's check cases leave an order open, a smaller shape like the bench shape
 * is added.  One worker thread. */
#include "launch_intermediates.h"

#define CASE_OPERATIONS 4e6 /* most of a case that is executed for this */

const rkb_case_t *link_case_before(const struct verifier *verifier, const rkb_case_t *bench,
                                   const rkb_case_t *last) {
   const double below = last ? last->operations : CASE_OPERATIONS;
   const rkb_case_t *best = NULL, *at;
   for (uint32_t n = 0; (at = verifier->task->case_at(verifier->host, RKB_CASE_CHECK, n)) != NULL; n++)
      if (at->operations < below && (!best || at->operations > best->operations) &&
          verifier->intermediates->alike(at, bench))
         best = at;
   return best;
}

int link_case_reduced(const struct verifier *verifier, const struct candidate *candidate,
                      const rkb_case_t *bench, rkb_case_t **reduced, rkb_error_t *err) {
   *reduced = NULL;
   if (!RKB_HAS(verifier->task, case_reduced))
      return RKB_OK;
   rkb_random_t stream = verifier->random->for_job(verifier->host, candidate->job, STREAM_LINKS);
   const int status =
      verifier->task->case_reduced(verifier->host, bench, &stream, CASE_OPERATIONS, UINT32_MAX, reduced, err);
   if (status == RKB_OK && !verifier->intermediates->alike(*reduced, bench)) {
      verifier->task->case_free(*reduced);
      *reduced = NULL;
   }
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* nothing so small fits the domain */
}

/* What cases tell ------------------------------------------------------------------------------------------------------- */

/* Whether some case has several of both dims of the task. */
static bool dims_tell(const struct links *links, uint32_t one, uint32_t other) {
   for (uint32_t n = 0; n < links->case_count; n++)
      if (links->cases[n]->dims[one].value > 1 && links->cases[n]->dims[other].value > 1)
         return true;
   return false;
}

/* The same of dims of an intermediate: a size that dims of the task make may be one where they are not. */
static bool shapes_tell(const struct verifier *verifier, const struct links *links, uint32_t number,
                        uint32_t one, uint32_t other) {
   rkb_intermediate_t there;
   for (uint32_t n = 0; n < links->case_count; n++)
      if (verifier->intermediates->at(links->cases[n], number, &there) && there.shape[one] > 1 &&
          there.shape[other] > 1)
         return true;
   return false;
}

/* The order of dims is known if that of each two neighbours is. */
static bool order_is_told(const struct verifier *verifier, const struct links *links, uint32_t number,
                          const uint32_t *order, const rkb_intermediate_t *at_bench) {
   uint32_t outer = UINT32_MAX;
   for (uint32_t d = 0; d < at_bench->rank; d++) {
      const uint32_t dim = order ? order[d] : d;
      if (at_bench->shape[dim] == 1)
         continue;
      if (outer != UINT32_MAX && !shapes_tell(verifier, links, number, outer, dim))
         return false;
      outer = dim;
   }
   return true;
}

static bool task_dims_are_told(const struct links *links, const rkb_case_t *bench) {
   for (uint32_t d = 0; d < bench->dim_count; d++)
      for (uint32_t other = 0; other < d && bench->dims[d].value > 1; other++)
         if (bench->dims[other].value > 1 && !dims_tell(links, d, other))
            return false;
   return true;
}

bool link_cases_tell(const struct verifier *verifier, const struct links *links, const rkb_case_t *bench) {
   rkb_intermediate_t intermediate;
   bool told = task_dims_are_told(links, bench);
   for (uint32_t number = 0; told && verifier->intermediates->at(bench, number, &intermediate); number++)
      told = order_is_told(verifier, links, number, NULL, &intermediate);
   return told;
}

bool link_fits(const struct verifier *verifier, const struct links *links, const rkb_case_t *bench,
               const rkb_plan_buffer_t *buffer, const struct link *link) {
   rkb_intermediate_t intermediate;
   return link->known && verifier->intermediates->at(bench, link->number, &intermediate) &&
          intermediate.elements == buffer->elements && task_dims_are_told(links, bench) &&
          order_is_told(verifier, links, link->number, link->order, &intermediate);
}
