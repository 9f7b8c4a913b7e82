/* Counts the work of each stage and reports events to the run's observer.  Loop thread. */
#ifndef RKB_RUN_EVENTS_H
#define RKB_RUN_EVENTS_H

#include "run/request_row.h"
#include "run/run.h"

struct rkb_run;

/* Counts of the entries of the pipeline. */
typedef struct rkb_progress_counts {
   rkb_stage_progress_t entries[RKB_MAX_ENTRIES];
} rkb_progress_counts_t;

/* Sets up the counts, and the hooks by which core and screening report. */
void rkb_event_hooks(struct rkb_run *run);
/* Tells the observer; fills in what every event has. */
void rkb_event_send(struct rkb_run *run, rkb_event_t *event);
void rkb_event_candidate_end(struct rkb_run *run, const rkb_candidate_t *candidate);
/* Sends an event that says only the kind, section, number and operator of a request. */
void rkb_event_request(struct rkb_run *run, uint32_t kind, const rkb_run_request_t *request);
/* A request's operator job waits, began, or ended. */
void rkb_event_operator_waits(struct rkb_run *run, const rkb_run_request_t *request);
void rkb_event_operator_began(struct rkb_run *run, const rkb_run_request_t *request);
void rkb_event_operator_ended(struct rkb_run *run, const rkb_run_request_t *request, double seconds);
void rkb_event_strategy_told(struct rkb_run *run);

#endif
