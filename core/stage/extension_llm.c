/* Extension rkb.llm/1: core/llm for plugins, asked in the name of a job.  ask runs on the thread
 * that calls it; submit on one of the threads that only wait (runtime.h). */
#include <stdlib.h>
#include <string.h>
#include "stage/extensions.h"
#include "stage/instance.h"
#include "llm/llm.h"

#define MOST_QUESTIONS 4096 /* of one job; the rest of a call's number in the archive is the candidate's */

typedef struct asking {
   rkb_jobs_t *jobs;
   rkb_job_t job;
} asking_t;

static bool cancelled(void *argument) {
   const asking_t *asking = argument;
   return rkb_jobs_cancelled(asking->jobs, asking->job);
}

static int ask(const rkb_host_t *host, rkb_job_t job, const rkb_llm_question_t *question,
               rkb_llm_answer_t **answer, rkb_error_t *err) {
   const rkb_owner_t *owner = rkb_owner_of(host);
   rkb_core_t *core = owner->core;
   asking_t asking = {core->jobs, job};
   rkb_scope_t scope;
   if (!rkb_jobs_scope(core->jobs, job, &scope))
      return rkb_fail(err, RKB_ERR_CANCELLED, "the job has ended");
   if (question->child >= MOST_QUESTIONS)
      return rkb_fail(err, RKB_ERR_LIMIT, "a job may ask at most %d questions", MOST_QUESTIONS);
   rkb_llm_asker_t asker = {.stage = owner->entry->node.id,
                            .section = scope.section,
                            .request = scope.request,
                            .child = (scope.candidate ? (int64_t)scope.child * MOST_QUESTIONS : 0) +
                                     question->child,
                            .deadline_ns = rkb_jobs_deadline(core->jobs, job),
                            .cancelled = cancelled,
                            .argument = &asking};
   return rkb_llm_ask(core->llm, &asker, question, answer, err);
}

static const rkb_llm_model_t *model(const rkb_host_t *host, const char *name) {
   return rkb_models_find(rkb_owner_of(host)->core->pipeline->models, name);
}

typedef struct submitted {
   const rkb_host_t *host;
   rkb_core_t *core;
   rkb_job_t job;
   rkb_llm_question_t question; /* its texts are owned */
   void (*done)(void *arg, int status, const rkb_llm_answer_t *answer);
   void *arg;
   int status;
   rkb_llm_answer_t *answer;
} submitted_t;

static void submitted_free(submitted_t *submitted) {
   free((char *)submitted->question.model);
   free((char *)submitted->question.system);
   free((char *)submitted->question.user);
   free((char *)submitted->question.provenance);
   rkb_llm_answer_free(submitted->answer);
   free(submitted);
}

static void come_back(void *argument) {
   submitted_t *submitted = argument;
   submitted->done(submitted->arg, submitted->status, submitted->answer);
   submitted_free(submitted);
}

static void ask_and_wait(void *argument) {
   submitted_t *submitted = argument;
   rkb_error_t err = {0};
   submitted->status = ask(submitted->host, submitted->job, &submitted->question, &submitted->answer, &err);
   rkb_core_returned(submitted->core, come_back, submitted);
}

static const char *copy(const char *text, bool *ok) {
   char *copied = text ? strdup(text) : NULL;
   *ok &= !text || copied;
   return copied;
}

static int submit(const rkb_host_t *host, rkb_job_t job, const rkb_llm_question_t *question,
                  void (*done)(void *arg, int status, const rkb_llm_answer_t *answer), void *arg,
                  rkb_error_t *err) {
   rkb_core_t *core = rkb_owner_of(host)->core;
   submitted_t *submitted = calloc(1, sizeof *submitted);
   bool ok = submitted != NULL;
   if (ok) {
      *submitted = (submitted_t){
         .host = host, .core = core, .job = job, .question = *question, .done = done, .arg = arg};
      submitted->question.model = copy(question->model, &ok);
      submitted->question.system = copy(question->system, &ok);
      submitted->question.user = copy(question->user, &ok);
      submitted->question.provenance = copy(question->provenance, &ok);
   }
   int status = ok ? rkb_workers_submit(core->waiters, ask_and_wait, submitted, NULL) : RKB_ERR_NOMEM;
   if (status == RKB_OK) {
      core->away++;
      return RKB_OK;
   }
   if (submitted)
      submitted_free(submitted);
   return rkb_fail(err, status, status == RKB_ERR_NOMEM ? "out of memory" : "too many questions wait");
}

const rkb_llm_api_t RKB_LLM_API = {
   .size = sizeof RKB_LLM_API, .ask = ask, .free = rkb_llm_answer_free, .submit = submit, .model = model};
