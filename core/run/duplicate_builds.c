/* Duplicates among builds (duplicate_builds.h).  A candidate waits at its build until all earlier builds are known, so
 * that which of two equal ones is the duplicate does not depend on which was built first. */
#include "run/duplicate_builds.h"

#include "run/run_state.h"

/* Whether the candidate's stages have stopped at the build step and the build step has its result. */
static bool waits_at_build(const rkb_run_t *run, const rkb_candidate_t *candidate) {
   if (!candidate->results)
      return false;
   const rkb_stage_result_t *result = &candidate->results[run->pipeline->build];
   return result->state == RKB_RUNNING && result->verdict;
}

/* Whether the candidate's build is final: it is made, or it will never be made. */
static bool is_decided(const rkb_run_t *run, const rkb_candidate_t *candidate) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   uint32_t state = candidate->results ? candidate->results[pipeline->build].state : RKB_RAN;
   if (candidate->duplicate_of || state == RKB_RAN || state == RKB_SKIPPED || state == RKB_BLOCKED)
      return true;
   /* A candidate that is not promoted never reaches a build step that is one of the evaluation's stages. */
   bool in_evaluate = pipeline->evaluate & (1ull << pipeline->build);
   bool screened = (candidate->settled & pipeline->screen) == pipeline->screen;
   return in_evaluate && screened &&
          (!rkb_candidate_passed(candidate, pipeline->screen) || candidate->promotion == RKB_PROMOTION_NOT);
}

bool rkb_duplicate_builds_next(rkb_run_t *run) {
   rkb_numbered_t *numbered = &run->numbered;
   if (run->pipeline->build < 0 || numbered->next_build == numbered->count)
      return false;
   rkb_candidate_t *candidate = numbered->list[numbered->next_build];
   bool waits = waits_at_build(run, candidate);
   if (!waits && !is_decided(run, candidate))
      return false;
   rkb_numbered_compare_build(numbered, waits);
   if (waits)
      rkb_screening_built(&run->screening, candidate);
   return true;
}
