/* One instance of a stage and its jobs (instance.h). */
#include "stage/instance.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "stage/current_stage.h"
#include "stage/candidate.h"
#include "stage/confined/confined.h"
#include "stage/confined_call.h"
#include "stage/extensions.h"
#include "stage/item.h"

#define SUBMITTED_AT_ONCE 64 /* for an asynchronous stage that declares no number of jobs: */

static uint32_t limit_of(const rkb_instance_t *instance) {
   const rkb_entry_t *entry = instance->owner.entry;
   if (entry->stage->flags & RKB_STAGE_SERIAL)
      return 1;
   if (entry->node.jobs)
      return entry->node.jobs;
   /* The number of workers limits blocking stages.  More of their jobs may wait in the workers' queue. */
   return instance->asynchronous.submit ? SUBMITTED_AT_ONCE : RKB_MAX_JOBS / 2;
}

/* The number of the job's candidate; 0 if it has none yet. */
static rkb_current_stage_t current_stage(const rkb_instance_t *instance, const rkb_scope_t *scope) {
   const bool judges = scope && scope->candidate;
   return (rkb_current_stage_t){.stage = &instance->owner.entry->node,
                                .candidate = judges ? scope->candidate->number : 0,
                                .sources = instance->owner.runtime->sources,
                                .doing = judges  ? "at work on candidate"
                                         : scope ? "proposing"
                                                 : "starting or ending"};
}

int rkb_instance_new(rkb_runtime_t *runtime, const rkb_entry_t *entry, rkb_instance_t **out, rkb_error_t *err) {
   rkb_instance_t *instance = rkb_allocate(1, sizeof *instance);
   instance->stage = entry->stage;
   rkb_owner_init(&instance->owner, runtime, entry, instance);
   rkb_error_t own = {0};
   instance->creating = true;
   const rkb_current_stage_t before = rkb_current_stage_set(current_stage(instance, NULL));
   int status = rkb_extensions_check(runtime, entry->stage->id, RKB_NEEDS(entry->stage), &own);
   if (status == RKB_OK)
      status = entry->stage->create(&instance->owner.host, entry->config, &instance->self, &own);
   instance->creating = false;
   rkb_current_stage_set(before);
   if (status != RKB_OK) {
      own.message[sizeof own.message - 1] = own.option[sizeof own.option - 1] = '\0';
      rkb_place_t place = entry->node.place;
      rkb_fail(err, status, "%.100s:%u:%u: %.60s could not be created: %s%.60s%s%.200s",
               place.file ? place.file : "", place.line, place.column, entry->node.id,
               own.option[0] ? "option '" : "", own.option, own.option[0] ? "': " : "",
               own.message[0] ? own.message : "it did not say why");
      free(instance);
      return status;
   }
   instance->limit = limit_of(instance);
   instance->confined = runtime->confined && rkb_confined_wanted(instance->stage);
   instance->next = runtime->instances;
   runtime->instances = instance;
   runtime->current[entry->index] = instance;
   *out = instance;
   return RKB_OK;
}

static void start_ended(void *argument) {
   rkb_instance_t *instance = argument;
   instance->running--;
   instance->started = instance->start_status == RKB_OK;
   if (instance->started)
      rkb_instance_pump(instance);
   else
      rkb_instance_flush(instance, instance->start_status, instance->start_error.message);
   rkb_loop_stop(instance->owner.runtime->loop);
}

static void start_on_worker(void *argument) {
   rkb_instance_t *instance = argument;
   const rkb_current_stage_t before = rkb_current_stage_set(current_stage(instance, NULL));
   instance->start_status = instance->asynchronous.start(instance->self, &instance->start_error);
   rkb_current_stage_set(before);
   rkb_loop_post(instance->owner.runtime->loop, start_ended, instance);
}

int rkb_instance_start(rkb_instance_t *instance, rkb_error_t *err) {
   if (!instance->asynchronous.start) {
      instance->started = true;
      return RKB_OK;
   }
   instance->running++;
   instance->start_status = RKB_ERR_TIMEOUT; /* holds until start() has ended */
   return rkb_workers_submit(instance->owner.runtime->workers, start_on_worker, instance, NULL) == RKB_OK
             ? RKB_OK
             : rkb_fail(err, RKB_ERR_LIMIT, "%s could not be started: the workers' queue is full",
                        instance->owner.entry->node.id);
}

/* Runs on a worker.  The loop may free the work as soon as the job is completed, so copy first what is used afterwards. */
static void run_on_worker(void *argument) {
   rkb_work_t *work = argument;
   rkb_instance_t *instance = work->instance;
   rkb_job_t job = work->job;
   rkb_item_t *in = work->in;
   rkb_error_t err = {0};
   int status = RKB_ERR_CANCELLED;
   const rkb_current_stage_t before = rkb_current_stage_set(current_stage(instance, &work->scope));
   if (rkb_jobs_start(instance->owner.runtime->jobs, job))
      status = instance->confined ? rkb_confined_run(instance, job, in, &err)
                                  : instance->stage->run(instance->self, job, in, &err);
   else
      rkb_fail(&err, status, "cancelled before it began");
   rkb_current_stage_set(before);
   rkb_jobs_complete(instance->owner.runtime->jobs, job, instance, status, &err);
   rkb_item_unref(in);
}

static void submit_on_loop(rkb_instance_t *instance, rkb_work_t *work) {
   rkb_job_t job = work->job;
   rkb_error_t err = {0};
   rkb_jobs_start(instance->owner.runtime->jobs, job);
   const rkb_current_stage_t before = rkb_current_stage_set(current_stage(instance, &work->scope));
   int status = instance->asynchronous.submit(instance->self, job, work->in, &err);
   rkb_current_stage_set(before);
   if (status != RKB_OK)
      rkb_jobs_complete(instance->owner.runtime->jobs, job, instance, status, &err);
}

static rkb_workers_t *pool_of(const rkb_instance_t *instance) {
   rkb_runtime_t *runtime = instance->owner.runtime;
   return (instance->stage->flags & RKB_STAGE_WAITS) && runtime->waiters ? runtime->waiters : runtime->workers;
}

static bool needs_device(const rkb_instance_t *instance) {
   return instance->stage->flags & RKB_STAGE_EXCLUSIVE_GPU;
}

/* A job with a GPU's lease goes before all that wait: while it waited for a thread, the GPU would be idle. */
static uint64_t rank_of(const rkb_instance_t *instance, const rkb_work_t *work) {
   return needs_device(instance) ? RKB_RANK_FIRST : rkb_request_rank(work->scope.section, work->scope.request);
}

/* Ends work that was never handed to a stage.   done is called from the loop's queue, because a caller that adds work does not
 * expect done before the call returns. */
typedef struct undone {
   rkb_work_t *work;
   rkb_ended_t ended;
} undone_t;

static void tell_undone(void *argument) {
   undone_t *undone = argument;
   undone->work->done(undone->work, &undone->ended);
   free(undone);
}

void rkb_work_end(rkb_runtime_t *runtime, rkb_work_t *work, int status, const char *why) {
   undone_t *undone = rkb_allocate(1, sizeof *undone);
   undone->work = work;
   undone->ended.work = work;
   undone->ended.status = rkb_fail(&undone->ended.error, status, "%s", why);
   if (rkb_loop_post(runtime->loop, tell_undone, undone) != RKB_OK)
      abort();
}

static void begin(rkb_instance_t *instance, rkb_work_t *work) {
   rkb_runtime_t *runtime = instance->owner.runtime;
   work->instance = instance;
   work->attempts++;
   work->job =
      rkb_jobs_open(runtime->jobs, work, instance, &work->scope, instance->owner.entry->node.deadline_ns);
   if (!work->job) {
      rkb_work_end(runtime, work, RKB_ERR_LIMIT, "too many jobs are open");
      return;
   }
   instance->running++;
   if (needs_device(instance))
      runtime->device_leases--;
   if (work->began && work->attempts == 1)
      work->began(work);
   rkb_runtime_watch(runtime, rkb_now_ns() + instance->owner.entry->node.deadline_ns);
   if (instance->asynchronous.submit) {
      submit_on_loop(instance, work);
      return;
   }
   rkb_item_ref(work->in); /* the worker's reference: its thread may return after the job was written off */
   int status = rkb_workers_submit_ranked(pool_of(instance), rank_of(instance, work), run_on_worker, work, &work->ticket);
   if (status != RKB_OK) {
      rkb_item_unref(work->in);
      rkb_error_t err = {0};
      rkb_fail(&err, status, "the workers' queue is full");
      rkb_jobs_complete(runtime->jobs, work->job, instance, status, &err);
   }
}

void rkb_instance_pump(rkb_instance_t *instance) {
   while (instance->first && instance->started && instance->running < instance->limit &&
          !instance->written_off && !instance->owner.runtime->stopping &&
          (!needs_device(instance) || instance->owner.runtime->device_leases)) {
      rkb_work_t *work = instance->first;
      instance->first = work->next;
      if (!instance->first)
         instance->last = NULL;
      instance->waiting--;
      begin(instance, work);
   }
}

static void append(rkb_instance_t *instance, rkb_work_t *work) {
   work->next = NULL;
   if (instance->last)
      instance->last->next = work;
   else
      instance->first = work;
   instance->last = work;
   instance->waiting++;
}

void rkb_instance_add(rkb_instance_t *instance, rkb_work_t *work) {
   work->attempts = 0;
   work->hung = false;
   append(instance, work);
   rkb_instance_pump(instance);
}

void rkb_instance_flush(rkb_instance_t *instance, int status, const char *why) {
   rkb_work_t *work = instance->first;
   instance->first = instance->last = NULL;
   instance->waiting = 0;
   while (work) {
      rkb_work_t *next = work->next;
      rkb_work_end(instance->owner.runtime, work, status, why);
      work = next;
   }
}

/* A wrong configuration or a broken contract fails again.  Other failures may be temporary. */
static bool worth_another_try(int status) {
   return status == RKB_ERR_UNAVAILABLE || status == RKB_ERR_IO || status == RKB_ERR_INTERNAL ||
          status == RKB_ERR_TIMEOUT || status == RKB_ERR_NOMEM;
}

void rkb_instance_ended(rkb_ended_t *ended) {
   rkb_work_t *work = ended->work;
   rkb_instance_t *instance = work->instance;
   rkb_runtime_t *runtime = instance->owner.runtime;
   instance->running--;
   runtime->jobs_ended++;
   if (needs_device(instance))
      runtime->device_leases++;
   if (ended->status == RKB_OK)
      rkb_contract_check(instance, work, ended);
   bool again = worth_another_try(ended->status) && work->attempts <= instance->owner.entry->node.retries &&
                !work->hung && !instance->written_off && !runtime->stopping;
   if (again) {
      rkb_log_printf(runtime->log, RKB_LOG_INFO, instance->owner.entry->node.id, "try %u failed: %s",
                     work->attempts, ended->error.message);
      append(instance, work);
   } else {
      work->done(work, ended);
   }
   rkb_ended_free(ended);
   rkb_instance_pump(instance);
   if (needs_device(instance))
      for (rkb_instance_t *other = runtime->instances; other; other = other->next)
         if (other != instance && needs_device(other))
            rkb_instance_pump(other);
}

/* Makes a new instance for the entry and gives it the old one's queue.  If that fails, the waiting work ends as hung too. */
static void replace(rkb_instance_t *old) {
   rkb_runtime_t *runtime = old->owner.runtime;
   uint32_t index = old->owner.entry->index;
   rkb_instance_t *fresh = NULL;
   rkb_error_t err = {0};
   runtime->current[index] = NULL;
   rkb_work_t *waiting = old->first;
   if (runtime->stopping || ++runtime->replaced[index] > RKB_MAX_REPLACED)
      rkb_fail(&err, RKB_ERR_TIMEOUT, "%d instances of it hung already", RKB_MAX_REPLACED);
   else
      rkb_instance_new(runtime, old->owner.entry, &fresh, &err);
   if (!fresh || rkb_instance_start(fresh, &err) != RKB_OK) {
      rkb_runtime_note(runtime, old->owner.entry->node.id, "no more jobs are given to it: %s", err.message);
      rkb_instance_flush(old, RKB_ERR_UNAVAILABLE, "its stage hangs");
      return;
   }
   old->first = old->last = NULL;
   old->waiting = 0;
   while (waiting) {
      rkb_work_t *next = waiting->next;
      append(fresh, waiting);
      waiting = next;
   }
   rkb_instance_pump(fresh);
}

void rkb_instance_write_off(rkb_instance_t *instance, const rkb_job_view_t *view) {
   rkb_runtime_t *runtime = instance->owner.runtime;
   bool first = !instance->written_off;
   instance->written_off = true;
   runtime->hung = true;
   view->work->hung = true;
   rkb_runtime_note(runtime, instance->owner.entry->node.id,
                 "a job neither ended at its deadline nor when it was cancelled; it is "
                 "written off as tool.hang");
   rkb_jobs_write_off(runtime->jobs, view->job, "it did not end, not even after it was cancelled");
   bool replaced = true;
   if (!instance->asynchronous.submit)
      rkb_workers_write_off(pool_of(instance), view->work->ticket, &replaced);
   if (!replaced)
      rkb_runtime_note(runtime, instance->owner.entry->node.id,
                    "its worker could not be replaced; there is one fewer now");
   if (first && runtime->current[instance->owner.entry->index] == instance)
      replace(instance);
}

void rkb_instance_stop(rkb_instance_t *instance) {
   if (instance->stop_called || instance->written_off)
      return;
   instance->stop_called = true;
   if (instance->asynchronous.stop)
      instance->asynchronous.stop(instance->self);
   else
      instance->stopped = true;
}

void rkb_instance_free(rkb_instance_t *instance) {
   if (!instance)
      return;
   const rkb_current_stage_t before = rkb_current_stage_set(current_stage(instance, NULL));
   instance->stage->destroy(instance->self);
   rkb_current_stage_set(before);
   free(instance);
}
