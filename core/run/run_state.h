/* One run of a pipeline.  Its state is made of parts.  The header of a part names the functions that change it, and the
 * part's other readers leave it alone; requests and candidates are changed by the step that they are at.
 *
 * Calls among the run's files go down this list, never up:
 *
 *   run.c               begins and ends: the public face
 *   advance.c           the pump: what is to be done next
 *   requests.c          adds requests: propose, then asks         groups.c            promotes by groups, evaluates
 *   strategy_outcomes.c tells the strategy, counts                numbering.c         numbers candidates
 *   duplicate_builds.c  candidates with equal builds              interrupts.c        ^C
 *   operator_jobs.c     serves requests                           search.c            calls the strategy
 *   strategy_record.c   asks and tells as hashes, replayed        resume.c            reads from the archive
 *   events.c            counts, tells the observer                run_record.c        writes to the archive
 *   library_record.c    elites of other runs, and for them
 *   run_times.c             what everything took                      contracts.c         stages that never keep the contract
 *   ending.c            how it ends
 *   request_row.c       the row and its marks                     numbered_candidates.c  candidates by number
 *
 * Reports go up by pointers that advance.c sets: screening's hooks and changed.  Loop thread. */
#ifndef RKB_RUN_RUN_STATE_H
#define RKB_RUN_RUN_STATE_H

#include "run/contracts.h"
#include "run/strategy_record.h"
#include "library/library.h"
#include "run/ending.h"
#include "run/events.h"
#include "run/numbered_candidates.h"
#include "run/request_row.h"
#include "run/resume.h"
#include "run/screening.h"
#include "run/search.h"
#include "run/strategy_outcomes.h"
#include "run/run_times.h"

typedef struct rkb_run {
   rkb_runtime_t runtime;
   rkb_pipeline_t *pipeline;
   rkb_run_options_t options;
   rkb_archive_t *archive; /* or NULL */
   rkb_screening_t screening;

   rkb_request_row_t row;
   rkb_numbered_t numbered;
   rkb_search_t search;
   rkb_tally_t tally;
   rkb_progress_counts_t progress;
   rkb_run_times_t times;
   rkb_contracts_t contracts;
   rkb_library_t library; /* library_record.c's: the entries that this run may read */
   rkb_run_ending_t ending;
   struct rkb_replay *replay;     /* strategy_record.c's */
   struct rkb_restored *restored; /* resume.c's; NULL for a fresh run */

   rkb_timer_t *wall;                    /* run.c's: the wall limit, or NULL */
   void (*changed)(struct rkb_run *run); /* something happened: advance */
   bool advancing; /* advance.c's: the pump runs further out on the stack and will see what happened */
} rkb_run_t;

#endif
