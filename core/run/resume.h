/* Takes up what an earlier process of the same run left in the archive.  Loop thread. */
#ifndef RKB_RUN_RESUME_H
#define RKB_RUN_RESUME_H

#include "run/request_row.h"

struct rkb_run;
struct rkb_restored;

int rkb_resume_load(struct rkb_run *run, rkb_error_t *err);
void rkb_resume_free(struct rkb_run *run);
/* Fills the request with the candidates that the archive holds for it.  False when there are none, and its operator has
 * to be asked.  A failure breaks the run. */
bool rkb_resume_restore(struct rkb_run *run, rkb_run_request_t *request);

#endif
