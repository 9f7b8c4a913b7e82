/* The question for a program: a request or a candidate as a JSON object (docs/process-stages.md).  Owns nothing; workers. */
#ifndef PROCESS_STAGE_QUESTION_H
#define PROCESS_STAGE_QUESTION_H

#include "process_stage/stage_program.h"

/* NULL when memory runs out.  about: a part for messages, such as "parent candidate 3"; the engine itself
 * names the number of a request or a candidate. */
json_t *question_of_request(const stage_program_t *program, rkb_job_t job, const rkb_item_t *request, char *about, size_t about_size);
json_t *question_of_candidate(const stage_program_t *program, rkb_job_t job, const rkb_item_t *candidate);

#endif
