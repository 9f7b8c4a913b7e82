/* Writes what happened to the archive.  Without an archive each function does nothing and returns true; a failure breaks
 * the run and returns false.  Loop thread. */
#ifndef RKB_RUN_RUN_RECORD_H
#define RKB_RUN_RUN_RECORD_H

#include "run/request_row.h"
#include "archive/archive.h"

struct rkb_run;

/* A new request, in one transaction with the tell before it (NULL: there was none).  Only the dialogue calls this, because
 * it knows whether the ask is new. */
bool rkb_record_new_ask(struct rkb_run *run, const rkb_run_request_t *request, const char *hash,
                        const rkb_strategy_record_record_t *told);
/* Its candidates, before anything is known about them. */
bool rkb_record_generated(struct rkb_run *run, const rkb_run_request_t *request);
/* Its candidates with what the screen found; finished when no evaluation follows. */
bool rkb_record_screened(struct rkb_run *run, const rkb_run_request_t *request, bool finished);
/* A closed promote group: its candidates best first, of which the first kept ones were promoted. */
bool rkb_record_group(struct rkb_run *run, const rkb_run_request_t *request, const int64_t *numbers,
                      uint32_t count, uint32_t kept);
bool rkb_record_evaluated(struct rkb_run *run, const rkb_candidate_t *candidate);
bool rkb_record_finished(struct rkb_run *run, const rkb_run_request_t *request);
/* Why this process ended, for people who read the archive. */
bool rkb_record_ending(struct rkb_run *run);

#endif
