/* What stages that make candidates share: the request is the question, candidates are the answer.  Owns
 * nothing; workers. */
#ifndef PROCESS_STAGE_PROPOSING_H
#define PROCESS_STAGE_PROPOSING_H

#include "process_stage/stage_program.h"

/* The function run of a translator or mutator whose self process_stage_create made. */
int process_stage_propose(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err);

#endif
