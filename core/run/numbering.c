/* Numbers (numbering.h). */
#include "run/numbering.h"

#include "run/run_record.h"
#include "run/run_state.h"

#define MOST_IN_SCREENING 1024 /* candidates between their number and the end of their section */

static bool number_candidate(rkb_run_t *run, const rkb_run_request_t *request, rkb_candidate_t *candidate) {
   int64_t recorded = candidate->number;
   rkb_numbered_add(&run->numbered, candidate);
   if (request->restored && recorded != candidate->number) {
      rkb_run_break(run, RKB_ERR_INVALID,
                    "this run cannot be resumed: the archive has candidate %lld where %lld would come now",
                    (long long)recorded, (long long)candidate->number);
      return false;
   }
   rkb_numbered_compare_text(&run->numbered, candidate, request->screened_before);
   rkb_candidate_refresh(run->pipeline, candidate, run->pipeline->screen);
   rkb_event_send(run, &(rkb_event_t){.kind = RKB_EVENT_CANDIDATE,
                                      .section = request->section,
                                      .request = request->number,
                                      .candidate = candidate->number,
                                      .entry = rkb_run_request_operator(request),
                                      .duplicate_of = candidate->duplicate_of});
   return true;
}

/* An operator that does not promise to repeat itself has its candidates kept at once, not only when they are screened. */
static bool keep_unrepeatable(rkb_run_t *run, const rkb_run_request_t *request) {
   const rkb_entry_t *operator_entry = request->operator_entry;
   bool repeatable = !operator_entry || (operator_entry->node.flags & RKB_STAGE_DETERMINISTIC);
   if (repeatable || !request->count || request->restored)
      return true;
   return rkb_record_generated(run, request);
}

static void begin_screening(rkb_run_t *run, rkb_run_request_t *request) {
   /* One more than there are candidates: the request must not settle before this function has begun all of them. */
   request->open = request->count + 1;
   for (uint32_t i = 0; i < request->count; i++) {
      rkb_candidate_t *candidate = request->candidates[i];
      if (candidate->duplicate_of || request->screened_before) {
         rkb_request_row_candidate_done(&run->row, request);
         rkb_event_candidate_end(run, candidate);
      } else {
         rkb_screening_begin(&run->screening, candidate, run->pipeline->screen);
      }
   }
   rkb_request_row_candidate_done(&run->row, request);
}

bool rkb_numbering_next(rkb_run_t *run) {
   if (run->screening.candidates >= MOST_IN_SCREENING)
      return false;
   rkb_run_request_t *request = rkb_request_row_take_to_number(&run->row);
   if (!request)
      return false;
   request->state = RKB_SCREENING;
   for (uint32_t i = 0; i < request->count; i++)
      if (!number_candidate(run, request, request->candidates[i]))
         return true;
   if (keep_unrepeatable(run, request))
      begin_screening(run, request);
   return true;
}
