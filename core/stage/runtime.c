/* Loop, workers and jobs of a run (runtime.h). */
#include "stage/runtime.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/memory.h"
#include "stage/extensions.h"
#include "stage/instance.h"
#include "gpu/devices.h"
#include "llm/llm.h"

#define QUEUE_LIMIT (1u << 17)
#define STOP_LIMIT_NS 5000000000ull /* for stages to stop */

/* On the loop: everything that ended since the bell rang. */
static void collect(void *argument) {
   rkb_core_t *core = argument;
   rkb_ended_t *ended = rkb_jobs_take(core->jobs);
   while (ended) {
      rkb_ended_t *next = ended->next;
      rkb_instance_ended(ended);
      ended = next;
   }
}

static void ring(void *argument) {
   rkb_core_t *core = argument;
   if (rkb_loop_post(core->loop, collect, core) != RKB_OK)
      abort(); /* a lost bell would leave the run waiting for ever */
}

int rkb_core_open(rkb_core_t *core, rkb_pipeline_t *pipeline, rkb_log_t *log, uint32_t jobs,
                  rkb_error_t *err) {
   long cores = sysconf(_SC_NPROCESSORS_ONLN);
   memset(core, 0, sizeof *core);
   core->pipeline = pipeline;
   core->log = log;
   core->device_leases = 1;
   core->worker_count = jobs ? jobs : cores > 0 ? (uint32_t)cores : 1;
   if (core->worker_count > RKB_WORKERS_MOST)
      core->worker_count = RKB_WORKERS_MOST;
   int status = rkb_loop_new(&core->loop, err);
   if (status != RKB_OK)
      return status;
   status = rkb_workers_open(core->worker_count, QUEUE_LIMIT, &core->workers, err);
   if (status != RKB_OK) {
      rkb_loop_free(core->loop);
      core->loop = NULL; /* rkb_core_close is called all the same */
      return status;
   }
   core->jobs = rkb_jobs_new(ring, core);
   return RKB_OK;
}

/* A GPU is looked for only when a stage asks for one; that stage says what its absence means. */
static void open_devices(rkb_core_t *core, uint64_t entries) {
   rkb_error_t err = {0};
   bool wanted = false;
   for (uint32_t i = 0; i < core->pipeline->entry_count; i++) {
      const rkb_stage_t *stage = core->pipeline->entries[i].stage;
      wanted |= (entries & (1ull << i)) && stage && (stage->flags & RKB_STAGE_EXCLUSIVE_GPU);
   }
   if (wanted && !core->devices &&
       rkb_devices_open(NULL, core->device_leases, &core->devices, &err) != RKB_OK)
      rkb_log_printf(core->log, RKB_LOG_WARN, "engine", "no GPU can be used: %s", err.message);
}

static void tell_over_budget(void *argument) {
   rkb_core_t *core = argument;
   rkb_core_note(core, "models", "%s", core->over_budget);
}

static void over_budget(void *argument, const char *text) {
   rkb_core_t *core = argument;
   snprintf(core->over_budget, sizeof core->over_budget, "%s", text);
   rkb_loop_post(core->loop, tell_over_budget, core);
}

/* Language models are opened when the pipeline lists some, and with them threads that may wait for their answers: a
 * thread that waits computes nothing, so the workers are not to be used up by it. */
static int open_models(rkb_core_t *core, rkb_error_t *err) {
   const rkb_pipeline_t *pipeline = core->pipeline;
   rkb_error_t absent = {0};
   if (rkb_http_new(core->loop, NULL, &core->http, &absent) != RKB_OK)
      rkb_log_printf(core->log, RKB_LOG_DEBUG, "engine", "%s", absent.message);
   if (!rkb_models_count(pipeline->models))
      return RKB_OK;
   rkb_llm_options_t options = {.models = pipeline->models,
                                .archive = core->archive,
                                .loop = core->loop,
                                .http = core->http,
                                .log = core->log,
                                .cost_limit = pipeline->limit_cost_usd,
                                .over_budget = over_budget,
                                .argument = core};
   int status = rkb_workers_open(rkb_models_concurrency(pipeline->models), QUEUE_LIMIT, &core->waiters, err);
   return status == RKB_OK ? rkb_llm_open(&options, &core->llm, err) : status;
}

int rkb_core_start(rkb_core_t *core, uint64_t entries, rkb_error_t *err) {
   open_devices(core, entries);
   int opened = open_models(core, err);
   if (opened != RKB_OK)
      return opened;
   for (uint32_t i = 0; i < core->pipeline->entry_count; i++) {
      rkb_instance_t *instance;
      if (!(entries & (1ull << i)) || !core->pipeline->entries[i].stage)
         continue;
      int status = rkb_instance_new(core, &core->pipeline->entries[i], &instance, err);
      if (status == RKB_OK)
         status = rkb_instance_start(instance, err);
      if (status != RKB_OK)
         return status;
   }
   for (rkb_instance_t *instance = core->instances; instance; instance = instance->next) {
      while (!instance->started && instance->running)
         rkb_loop_run(core->loop); /* start's end stops the loop */
      if (!instance->started)
         return rkb_fail(
            err, instance->start_status, "%s could not be started: %.300s", instance->owner.entry->node.id,
            instance->start_error.message[0] ? instance->start_error.message : "it did not say why");
   }
   return RKB_OK;
}

void rkb_core_add(rkb_core_t *core, uint32_t entry, rkb_work_t *work) {
   rkb_instance_t *instance = core->current[entry];
   if (instance) {
      rkb_instance_add(instance, work);
      return;
   }
   for (instance = core->instances; instance->owner.entry->index != entry;)
      instance = instance->next;
   rkb_instance_add(instance, work); /* a written-off one starts nothing */
   rkb_instance_flush(instance, RKB_ERR_UNAVAILABLE, "its stage hangs");
}

typedef struct look {
   rkb_core_t *core;
   uint64_t now, next;
} look_t;

static void cancel_job(rkb_core_t *core, const rkb_job_view_t *view) {
   if (!rkb_jobs_cancel(core->jobs, view->job))
      return;
   rkb_process_cancel_job(core, view->job);
   rkb_http_cancel_job(core, view->job);
   if (view->instance->asynchronous.cancel)
      view->instance->asynchronous.cancel(view->instance->self, view->job);
}

static void look_at(void *argument, const rkb_job_view_t *view) {
   look_t *look = argument;
   uint64_t due;
   if (view->cancelled) {
      due = view->cancelled_ns + RKB_GRACE_NS;
      if (due <= look->now && view->started_ns) {
         rkb_instance_write_off(view->instance, view);
         return;
      }
   } else {
      /* One that has not started yet is due no earlier than if it started now. */
      due = (view->started_ns ? view->started_ns : look->now) + view->limit_ns;
      if (due <= look->now) {
         cancel_job(look->core, view);
         due = look->now + RKB_GRACE_NS;
      }
   }
   if (due < look->next)
      look->next = due;
}

static void clock_rings(void *argument) {
   rkb_core_t *core = argument;
   look_t look = {.core = core, .now = rkb_now_ns(), .next = UINT64_MAX};
   core->clock = NULL;
   rkb_jobs_each(core->jobs, look_at, &look);
   if (look.next != UINT64_MAX)
      rkb_core_watch(core, look.next);
}

void rkb_core_watch(rkb_core_t *core, uint64_t due_ns) {
   if (core->clock && core->clock_due_ns <= due_ns)
      return;
   rkb_timer_stop(core->clock);
   uint64_t now = rkb_now_ns();
   core->clock_due_ns = due_ns;
   core->clock = rkb_timer_start(core->loop, due_ns > now ? due_ns - now : 0, clock_rings, core);
}

static void cancel_each(void *argument, const rkb_job_view_t *view) {
   cancel_job(argument, view);
}

void rkb_core_cancel(rkb_core_t *core) {
   __atomic_store_n(&core->stopping, true, __ATOMIC_RELAXED);
   for (rkb_instance_t *instance = core->instances; instance; instance = instance->next)
      rkb_instance_flush(instance, RKB_ERR_CANCELLED, "the run is ending");
   rkb_jobs_each(core->jobs, cancel_each, core);
   rkb_core_watch(core, rkb_now_ns() + RKB_GRACE_NS);
}

void rkb_core_note(rkb_core_t *core, const char *entry, const char *fmt, ...) {
   char text[600];
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(text, sizeof text, fmt, ap);
   va_end(ap);
   rkb_log_write(core->log, RKB_LOG_WARN, entry, NULL, 0, text);
   if (core->note)
      core->note(core->note_argument, entry, text);
}

int rkb_core_send(rkb_core_t *core, void (*fn)(void *), void *argument) {
   int status = rkb_workers_submit(core->workers, fn, argument, NULL);
   core->away += status == RKB_OK;
   return status;
}

typedef struct homecoming {
   rkb_core_t *core;
   void (*back)(void *);
   void *argument;
} homecoming_t;

static void come_home(void *argument) {
   homecoming_t *homecoming = argument;
   homecoming->core->away--;
   homecoming->back(homecoming->argument);
   free(homecoming);
}

void rkb_core_returned(rkb_core_t *core, void (*back)(void *), void *argument) {
   homecoming_t *homecoming = rkb_allocate(1, sizeof *homecoming);
   *homecoming = (homecoming_t){.core = core, .back = back, .argument = argument};
   if (rkb_loop_post(core->loop, come_home, homecoming) != RKB_OK)
      abort();
}

static void stop_turning(void *argument) {
   rkb_loop_stop(argument);
}

static bool busy(const rkb_core_t *core, bool stopping) {
   if (core->away)
      return true;
   for (const rkb_instance_t *instance = core->instances; instance; instance = instance->next)
      if (!instance->written_off &&
          (instance->running || atomic_load(&instance->owner.posted) || (stopping && !instance->stopped)))
         return true;
   return false;
}

/* Turns the loop until nothing is owed any more, or the time is up; true when all is quiet. */
static bool settle(rkb_core_t *core, bool stopping, uint64_t limit_ns) {
   uint64_t end = rkb_now_ns() + limit_ns;
   while (busy(core, stopping) && rkb_now_ns() < end) {
      rkb_timer_start(core->loop, 10000000, stop_turning, core->loop);
      rkb_loop_run(core->loop);
   }
   return !busy(core, stopping);
}

void rkb_core_close(rkb_core_t *core) {
   if (!core->loop)
      return;
   rkb_core_cancel(core);
   bool quiet = settle(core, false, 3 * RKB_GRACE_NS);
   for (rkb_instance_t *instance = core->instances; quiet && instance; instance = instance->next)
      rkb_instance_stop(instance);
   quiet = quiet && settle(core, true, STOP_LIMIT_NS);
   if (!quiet)
      core->hung = true;
   if (core->hung)
      return; /* threads may still use all of it; the process leaves with _exit */
   while (core->instances) {
      rkb_instance_t *instance = core->instances;
      core->instances = instance->next;
      rkb_instance_free(instance);
   }
   rkb_timer_stop(core->clock);
   rkb_workers_close(core->workers);
   rkb_workers_close(core->waiters);
   rkb_llm_close(core->llm);
   rkb_http_free(core->http);
   if (!core->devices_lent)
      rkb_devices_close(core->devices);
   rkb_loop_free(core->loop);
   rkb_jobs_free(core->jobs);
   core->devices = NULL;
   core->llm = NULL;
   core->http = NULL;
   core->waiters = NULL;
   core->loop = NULL;
}
