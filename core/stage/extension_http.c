/* Draft extension rkb.draft.http/0: HTTP transfers of a job.  They end no later than the job.  Loop thread. */
#include <stdlib.h>
#include "base/memory.h"
#include "stage/extensions.h"
#include "stage/instance.h"
#include "system/http.h"

struct rkb_lent_transfer {
   struct rkb_lent_transfer *next, **link;
   rkb_job_t job;
   rkb_http_transfer_t *transfer;
   void (*event)(void *arg, const rkb_http_event_t *event);
   void (*done)(void *arg, const rkb_http_reply_t *reply);
   void *arg;
};

static void on_event(void *argument, const rkb_http_event_t *event) {
   struct rkb_lent_transfer *lent = argument;
   lent->event(lent->arg, event);
}

static void on_done(void *argument, const rkb_http_reply_t *reply) {
   struct rkb_lent_transfer *lent = argument;
   *lent->link = lent->next;
   if (lent->next)
      lent->next->link = lent->link;
   lent->done(lent->arg, reply);
   free(lent);
}

static int submit(const rkb_host_t *host, rkb_job_t job, const rkb_http_request_t *request,
                  rkb_http_transfer_t **transfer, rkb_error_t *err) {
   rkb_runtime_t *runtime = rkb_owner_of(host)->runtime;
   uint64_t deadline = rkb_jobs_deadline(runtime->jobs, job), now = rkb_now_ns();
   uint64_t left = deadline > now ? deadline - now : 1;
   if (!deadline || rkb_jobs_cancelled(runtime->jobs, job))
      return rkb_fail(err, RKB_ERR_CANCELLED, "the job has ended");
   rkb_http_request_t mine;
   if (rkb_versioned_read(&mine, sizeof mine, request, sizeof mine, "rkb_http_request_t", err) != RKB_OK)
      return RKB_ERR_CONTRACT;
   struct rkb_lent_transfer *lent = rkb_allocate(1, sizeof *lent);
   *lent = (struct rkb_lent_transfer){.job = job, .event = mine.event, .done = mine.done, .arg = mine.arg};
   mine.event = mine.event ? on_event : NULL;
   mine.done = on_done;
   mine.arg = lent;
   if (!mine.total_ns || mine.total_ns > left)
      mine.total_ns = left;
   int status = rkb_http_start(runtime->http, &mine, &lent->transfer, err);
   if (status != RKB_OK) {
      free(lent);
      return status;
   }
   lent->next = runtime->transfers;
   lent->link = &runtime->transfers;
   if (lent->next)
      lent->next->link = &lent->next;
   runtime->transfers = lent;
   if (transfer)
      *transfer = lent->transfer;
   return RKB_OK;
}

void rkb_http_cancel_job(rkb_runtime_t *runtime, rkb_job_t job) {
   for (struct rkb_lent_transfer *lent = runtime->transfers; lent; lent = lent->next)
      if (lent->job == job)
         rkb_http_cancel(lent->transfer);
}

const rkb_http_api_t RKB_HTTP_API = {
   .size = sizeof RKB_HTTP_API, .submit = submit, .cancel = rkb_http_cancel};
