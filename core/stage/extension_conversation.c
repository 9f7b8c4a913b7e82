/* Extension rkb.conversation/1: core/system/conversation.c for plugins, with the limits of a job. */
#include "stage/extensions.h"
#include "stage/instance.h"
#include "system/conversation.h"

typedef struct asking {
   rkb_jobs_t *jobs;
   rkb_job_t job;
} asking_t;

static bool cancelled(void *argument) {
   const asking_t *asking = argument;
   return rkb_jobs_cancelled(asking->jobs, asking->job);
}

static int begin(const rkb_host_t *host, const rkb_conversation_spec_t *given, rkb_conversation_t **conversation, rkb_error_t *err) {
   rkb_conversation_spec_t spec;
   (void)host;
   if (rkb_versioned_read(&spec, sizeof spec, given, sizeof spec, "rkb_conversation_spec_t", err) != RKB_OK)
      return RKB_ERR_CONTRACT;
   return conversation_open(&spec, conversation, err);
}

static int ask(const rkb_host_t *host, rkb_conversation_t *conversation, rkb_job_t job, const char *line, rkb_conversation_read_t read,
               void *argument, rkb_error_t *err) {
   asking_t asking = {rkb_owner_of(host)->runtime->jobs, job};
   const uint64_t deadline = job ? rkb_jobs_deadline(asking.jobs, job) : 0;
   return conversation_ask(conversation, line, deadline, job ? cancelled : NULL, &asking, read, argument, err);
}

const rkb_conversation_api_t RKB_CONVERSATION_API = {
   .size = sizeof RKB_CONVERSATION_API, .open = begin, .ask = ask, .close = conversation_close};
