/* Asks a program for one request's candidates (proposing.h). */
#include "process_stage/proposing.h"

#include "process_stage/stage_answer.h"
#include "process_stage/question.h"

static int use_answer(void *argument, const json_t *answer, rkb_error_t *err) {
   const process_job_t *work = argument;
   return answer_emit_candidates(work->host, work->job, work->in, answer, err);
}

int process_stage_propose(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   stage_program_t *me = self;
   process_job_t work = {me->host, job, in};
   char about[64];
   json_t *question = question_of_request(me, job, in, about, sizeof about);
   return stage_program_ask(me, job, question, about, use_answer, &work, err);
}
