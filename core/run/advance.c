/* The pump (advance.h). */
#include "run/advance.h"

#include "run/duplicate_builds.h"
#include "run/groups.h"
#include "run/numbering.h"
#include "run/run_record.h"
#include "run/requests.h"
#include "run/run_state.h"

/* Takes one step; false when nothing can be done before another report comes in.  Steps that give the workers work come first;
 * the steps that tell the strategy come last.  An ask comes before the next tell: request n must not see more than request n -
 * window. */
static bool step(rkb_run_t *run) {
   return rkb_groups_next(run) || rkb_duplicate_builds_next(run) || rkb_numbering_next(run) ||
          rkb_requests_ask_next(run) || rkb_telling_next(run);
}

void rkb_run_advance(rkb_run_t *run) {
   if (run->advancing)
      return; /* a step called back before it returned; the loop below, further out, does what follows */
   run->advancing = true;
   while (!run->ending.status && step(run))
      ;
   run->advancing = false;
   if (run->ending.status || !rkb_strategy_record_flush(run))
      return;
   if (run->ending.asking_over && run->row.next_tell == run->row.count)
      rkb_loop_stop(run->runtime.loop);
}

static void section_over(void *owner, rkb_candidate_t *candidate, uint64_t entries) {
   rkb_run_t *run = owner;
   bool screened = entries == run->pipeline->screen;
   if (run->ending.status)
      return;
   rkb_event_candidate_end(run, candidate);
   /* A candidate that may still be promoted keeps its build for the evaluation. */
   if (!screened || !run->pipeline->promotes || !rkb_candidate_passed(candidate, entries))
      rkb_candidate_settle(candidate);
   if (!screened && !rkb_record_evaluated(run, candidate))
      return;
   rkb_request_row_candidate_done(&run->row, candidate->owner);
   rkb_run_advance(run);
}

static void build_arrived(void *owner, rkb_candidate_t *candidate) {
   (void)
      candidate; /* duplicate_builds.c finds the build in the candidate's result */
   rkb_run_advance(owner);
}

void rkb_run_advance_hooks(rkb_run_t *run) {
   run->screening =
      (rkb_screening_t){.runtime = &run->runtime, .owner = run, .finished = section_over, .built = build_arrived};
   run->changed = rkb_run_advance;
}
