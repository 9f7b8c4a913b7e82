/* Shows a running pipeline's progress on standard error: on a terminal one live line per stage, otherwise a plain line for each notable
 * event. */
#ifndef RKB_CLI_PROGRESS_H
#define RKB_CLI_PROGRESS_H

#include "run/run.h"

typedef struct rkb_progress rkb_progress_t;

/* live: redraw in place, because standard error is a terminal.  objective: the measurement's name.  Uses the log's hooks to keep log
 * lines apart from live lines.  NULL when memory is out. */
rkb_progress_t *rkb_progress_new(bool live, const char *objective, const rkb_pipeline_facts_t *limits,
                                 rkb_log_t *log);
/* Leaves the last picture on the terminal; NULL is accepted. */
void rkb_progress_free(rkb_progress_t *progress);
/* The observer for rkb_run_options_t; argument is the rkb_progress_t. */
void rkb_progress_observe(void *argument, const rkb_event_t *event);

#endif
