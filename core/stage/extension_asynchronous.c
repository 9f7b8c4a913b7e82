/* Draft extension rkb.draft.asynchronous/0: stages that take jobs on the loop thread and complete them later. */
#include <stdlib.h>
#include "base/memory.h"
#include "stage/extensions.h"
#include "stage/instance.h"

static int serve(const rkb_host_t *host, const rkb_asynchronous_stage_t *stage, rkb_error_t *err) {
   rkb_instance_t *instance = rkb_owner_of(host)->instance;
   if (!instance || !instance->creating || instance->asynchronous.submit)
      return rkb_fail(err, RKB_ERR_CONTRACT, "serve is for a stage's create, and for one call there");
   int status = rkb_versioned_read(&instance->asynchronous, sizeof instance->asynchronous, stage,
                               sizeof instance->asynchronous, "rkb_asynchronous_stage_t", err);
   if (status == RKB_OK && !instance->asynchronous.submit)
      status = rkb_fail(err, RKB_ERR_CONTRACT, "serve was given a stage without submit");
   if (status != RKB_OK)
      instance->asynchronous = (rkb_asynchronous_stage_t){0};
   return status;
}

/* Posted calls are counted, so that no instance is destroyed before its calls have run. */
typedef struct posted {
   rkb_owner_t *owner;
   void (*fn)(void *arg);
   void *arg;
} posted_t;

static void run_posted(void *argument) {
   posted_t *posted = argument;
   rkb_owner_t *owner = posted->owner;
   posted->fn(posted->arg);
   free(posted);
   atomic_fetch_sub(&owner->posted, 1);
}

static void post(const rkb_host_t *host, void (*fn)(void *arg), void *arg) {
   rkb_owner_t *owner = rkb_owner_of(host);
   posted_t *posted = rkb_allocate(1, sizeof *posted);
   *posted = (posted_t){.owner = owner, .fn = fn, .arg = arg};
   atomic_fetch_add(&owner->posted, 1);
   if (rkb_loop_post(owner->runtime->loop, run_posted, posted) == RKB_OK)
      return;
   atomic_fetch_sub(&owner->posted, 1);
   free(posted);
   rkb_log_printf(owner->runtime->log, RKB_LOG_ERROR, host->instance_name,
                  "a post was lost: too many are waiting");
}

static void broke(const rkb_host_t *host, const char *how) {
   const rkb_owner_t *owner = rkb_owner_of(host);
   rkb_log_printf(owner->runtime->log, RKB_LOG_WARN, host->instance_name, "%s broke the contract: %s",
                  owner->entry->node.use, how);
}

static void job_complete(const rkb_host_t *host, rkb_job_t job, int status, const rkb_error_t *err) {
   const rkb_owner_t *owner = rkb_owner_of(host);
   if (!owner->instance || !owner->instance->asynchronous.submit) {
      broke(host, "it called job_complete, which is for stages with submit");
      return;
   }
   enum rkb_job_answer answer = rkb_jobs_complete(owner->runtime->jobs, job, owner->instance, status, err);
   if (answer == RKB_JOB_TWICE)
      broke(host, "it completed a job twice; the second time is ignored");
   else if (answer == RKB_JOB_LATE)
      broke(host, "it completed a job that had ended already; that is ignored");
}

static void mark_stopped(void *argument) {
   ((rkb_instance_t *)argument)->stopped = true;
}

static void stage_stopped(const rkb_host_t *host) {
   const rkb_owner_t *owner = rkb_owner_of(host);
   if (owner->instance)
      rkb_loop_post(owner->runtime->loop, mark_stopped, owner->instance);
}

const rkb_asynchronous_api_t RKB_ASYNCHRONOUS_API = {.size = sizeof RKB_ASYNCHRONOUS_API,
                                                     .serve = serve,
                                                     .post = post,
                                                     .job_complete = job_complete,
                                                     .stage_stopped = stage_stopped};
