/* Draft extension rkb.draft.process/0: child processes of a job.  They end no later than the job. */
#include <stdlib.h>
#include "base/memory.h"
#include "stage/extensions.h"
#include "stage/instance.h"
#include "system/process.h"

typedef struct asking {
   rkb_jobs_t *jobs;
   rkb_job_t job;
} asking_t;

static bool cancelled(void *argument) {
   const asking_t *asking = argument;
   return rkb_jobs_cancelled(asking->jobs, asking->job);
}

/* A spec with the defaults of its job filled in. */
static int complete_spec(const rkb_runtime_t *runtime, rkb_job_t job, const rkb_process_spec_t *given,
                         rkb_process_spec_t *spec, rkb_error_t *err) {
   if (rkb_versioned_read(spec, sizeof *spec, given, sizeof *spec, "rkb_process_spec_t", err) != RKB_OK)
      return RKB_ERR_CONTRACT;
   uint64_t deadline = rkb_jobs_deadline(runtime->jobs, job), now = rkb_now_ns();
   uint64_t left = deadline > now ? deadline - now : 1;
   if (!deadline || rkb_jobs_cancelled(runtime->jobs, job))
      return rkb_fail(err, RKB_ERR_CANCELLED, "the job has ended");
   if (!spec->deadline_ns || spec->deadline_ns > left)
      spec->deadline_ns = left;
   if (!spec->directory && runtime->archive)
      spec->directory = rkb_archive_directory(runtime->archive);
   return RKB_OK;
}

static int run(const rkb_host_t *host, rkb_job_t job, const rkb_process_spec_t *given,
               rkb_process_result_t **result, rkb_error_t *err) {
   const rkb_runtime_t *runtime = rkb_owner_of(host)->runtime;
   asking_t asking = {.jobs = runtime->jobs, .job = job};
   rkb_process_spec_t spec;
   int status = complete_spec(runtime, job, given, &spec, err);
   if (status != RKB_OK)
      return status;
   return rkb_process_run(&spec, cancelled, &asking, result, err);
}

struct rkb_child {
   struct rkb_child *next, **link;
   rkb_runtime_t *runtime;
   rkb_job_t job;
   rkb_process_t *process;
   void (*done)(void *arg, int status, const rkb_process_result_t *result);
   void *arg;
};

static void ended(void *argument, int status, const rkb_process_result_t *result) {
   struct rkb_child *child = argument;
   *child->link = child->next;
   if (child->next)
      child->next->link = child->link;
   child->done(child->arg, status, result);
   free(child);
}

static int submit(const rkb_host_t *host, rkb_job_t job, const rkb_process_spec_t *given,
                  void (*done)(void *arg, int status, const rkb_process_result_t *result), void *arg,
                  rkb_error_t *err) {
   rkb_runtime_t *runtime = rkb_owner_of(host)->runtime;
   rkb_process_spec_t spec;
   int status = complete_spec(runtime, job, given, &spec, err);
   if (status != RKB_OK)
      return status;
   struct rkb_child *child = rkb_allocate(1, sizeof *child);
   *child = (struct rkb_child){.runtime = runtime, .job = job, .done = done, .arg = arg};
   status = rkb_process_start(runtime->loop, &spec, ended, child, &child->process, err);
   if (status != RKB_OK) {
      free(child);
      return status;
   }
   child->next = runtime->children;
   child->link = &runtime->children;
   if (child->next)
      child->next->link = &child->next;
   runtime->children = child;
   return RKB_OK;
}

void rkb_process_cancel_job(rkb_runtime_t *runtime, rkb_job_t job) {
   for (struct rkb_child *child = runtime->children; child; child = child->next)
      if (child->job == job)
         rkb_process_cancel(child->process);
}

const rkb_process_api_t RKB_PROCESS_API = {
   .size = sizeof RKB_PROCESS_API, .run = run, .free = rkb_process_result_free, .submit = submit};
