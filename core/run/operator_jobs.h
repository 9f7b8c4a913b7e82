/* Serves requests: an operator's job gives them candidates, or the archive does.  Loop thread, but for the worker that
 * identifies candidates. */
#ifndef RKB_RUN_OPERATOR_JOBS_H
#define RKB_RUN_OPERATOR_JOBS_H

#include "run/request_row.h"

struct rkb_run;

/* Starts to serve the request.  An empty one, and one whose candidates the archive holds, is GENERATED on return; the
 * others become so later, and run->changed is called then. */
void rkb_operator_jobs_serve(struct rkb_run *run, rkb_run_request_t *request);

#endif
