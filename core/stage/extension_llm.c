/* Extension rkb.llm/2: core/llm for plugins, asked in the name of a job.  ask runs on the thread that calls it. */
#include "stage/extensions.h"
#include "stage/instance.h"
#include "llm/llm.h"

#define MOST_QUESTIONS 4096 /* calls of one job; the higher part of a call's number in the archive is the candidate's number */

typedef struct asking {
   rkb_jobs_t *jobs;
   rkb_job_t job;
} asking_t;

static bool cancelled(void *argument) {
   const asking_t *asking = argument;
   return rkb_jobs_cancelled(asking->jobs, asking->job);
}

static int ask(const rkb_host_t *host, rkb_job_t job, const rkb_llm_question_t *given,
               rkb_llm_answer_t **answer, rkb_error_t *err) {
   const rkb_owner_t *owner = rkb_owner_of(host);
   rkb_runtime_t *runtime = owner->runtime;
   asking_t asking = {runtime->jobs, job};
   rkb_scope_t scope;
   rkb_llm_question_t question;
   if (rkb_versioned_read(&question, sizeof question, given, sizeof question, "rkb_llm_question_t", err) !=
       RKB_OK)
      return RKB_ERR_CONTRACT;
   if (!rkb_jobs_scope(runtime->jobs, job, &scope))
      return rkb_fail(err, RKB_ERR_CANCELLED, "the job has ended");
   if (question.child >= MOST_QUESTIONS)
      return rkb_fail(err, RKB_ERR_LIMIT, "a job may ask at most %d questions", MOST_QUESTIONS);
   rkb_llm_asker_t asker = {.stage = owner->entry->node.id,
                            .section = scope.section,
                            .request = scope.request,
                            .child =
                               (scope.candidate ? (int64_t)scope.child * MOST_QUESTIONS : 0) + question.child,
                            .deadline_ns = rkb_jobs_deadline(runtime->jobs, job),
                            .cancelled = cancelled,
                            .argument = &asking};
   return rkb_llm_ask(runtime->llm, &asker, &question, answer, err);
}

static const rkb_llm_model_t *model(const rkb_host_t *host, const char *name) {
   return rkb_models_find(rkb_owner_of(host)->runtime->pipeline->models, name);
}

const rkb_llm_api_t RKB_LLM_API = {
   .size = sizeof RKB_LLM_API, .ask = ask, .free = rkb_llm_answer_free, .model = model};
