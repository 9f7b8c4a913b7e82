/* The loop, workers and jobs of a run (runtime.h). */
#include "stage/runtime.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "stage/confined/confined.h"
#include "stage/confined_job.h"
#include "stage/extensions.h"
#include "stage/instance.h"
#include "stage/screen/screen_workers.h"
#include "gpu/devices.h"
#include "kernel/kernel.h"
#include "llm/llm.h"
#include "system/processors.h"

#define QUEUE_LIMIT (1u << 17)
#define STOP_LIMIT_NS 5000000000ull /* time that all stages together have for stop() */

/* On the loop: handles every job that ended since the last call. */
static void collect(void *argument) {
   rkb_runtime_t *runtime = argument;
   rkb_ended_t *ended = rkb_jobs_take(runtime->jobs);
   while (ended) {
      rkb_ended_t *next = ended->next;
      rkb_instance_ended(ended);
      ended = next;
   }
}

static void ring(void *argument) {
   rkb_runtime_t *runtime = argument;
   if (rkb_loop_post(runtime->loop, collect, runtime) != RKB_OK)
      abort(); /* without this call the run would wait for ever */
}

static void clock_rings(void *argument);

const char *rkb_runtime_layers(const rkb_runtime_t *runtime) {
   return runtime->confined ? runtime->confined->layers : "";
}

int rkb_runtime_open(rkb_runtime_t *runtime, rkb_pipeline_t *pipeline, rkb_log_t *log, uint32_t jobs,
                  rkb_error_t *err) {
   memset(runtime, 0, sizeof *runtime);
   runtime->pipeline = pipeline;
   runtime->clock_rings = clock_rings;
   runtime->log = log;
   runtime->device_leases = 1;
   runtime->worker_count = jobs ? jobs : rkb_processors();
   if (runtime->worker_count > RKB_WORKERS_MOST)
      runtime->worker_count = RKB_WORKERS_MOST;
   const rkb_confined_work_t work = rkb_confined_work_of(runtime);
   int status = rkb_confined_open(pipeline, &work, &runtime->confined, err); /* must come before there are threads and before keys are read */
   if (status == RKB_OK)
      status = rkb_loop_new(&runtime->loop, err);
   const uint32_t screening = rkb_screen_count(pipeline), most = RKB_WORKERS_MOST - runtime->worker_count;
   if (status == RKB_OK)
      status = rkb_workers_open(runtime->worker_count + (screening < most ? screening : most), QUEUE_LIMIT,
                                &runtime->workers, err);
   if (status != RKB_OK) {
      rkb_confined_close(runtime->confined);
      if (runtime->loop)
         rkb_loop_free(runtime->loop);
      runtime->confined = NULL;
      runtime->loop = NULL; /* rkb_runtime_close is called all the same */
      return status;
   }
   rkb_workers_heed(runtime->workers, runtime->loop);
   runtime->jobs = rkb_jobs_new(ring, runtime);
   runtime->sources = rkb_source_cache_new();
   return RKB_OK;
}

static void note_worker(void *argument, const char *text) {
   const rkb_runtime_t *runtime = argument;
   rkb_log_printf(runtime->log, RKB_LOG_WARN, "workers", "%s", text);
}

static void note_screening(void *argument, int level, const char *text) {
   const rkb_runtime_t *runtime = argument;
   rkb_log_printf(runtime->log, level, "workers", "%s", text);
}

/* Opens the GPUs of the pipeline's workers, or those of this machine. */
static int open_workers(rkb_runtime_t *runtime, rkb_error_t *err) {
   const rkb_pipeline_t *pipeline = runtime->pipeline;
   rkb_worker_address_t addresses[RKB_MAX_WORKER_ADDRESSES] = {{.command = NULL}};
   rkb_devices_options_t options = {.addresses = addresses, .note = note_worker, .argument = runtime};
   for (uint32_t i = 0; i < pipeline->worker_count && options.count < RKB_MAX_WORKER_ADDRESSES; i++)
      if (!pipeline->workers[i].screens)
         addresses[options.count++] = (rkb_worker_address_t){.command = pipeline->workers[i].command,
                                                             .count = pipeline->workers[i].count,
                                                             .environment = pipeline->workers[i].environment,
                                                             .device = pipeline->workers[i].device};
   options.count = options.count ? options.count : 1;
   return rkb_devices_open_all(&options, &runtime->devices, err);
}

static void close_screening(rkb_runtime_t *runtime) {
   uint64_t there, here;
   rkb_screen_tally(runtime->screen, &there, &here);
   if (runtime->screen)
      rkb_log_printf(runtime->log, RKB_LOG_INFO, "workers", "screening workers took %llu builds and checks, this machine %llu",
                     (unsigned long long)there, (unsigned long long)here);
   rkb_screen_close(runtime->screen);
}

/* Screening workers only build, and run stages whose jobs have processes of their own.  If the pipeline has neither, none is
 * started. */
static void open_screening(rkb_runtime_t *runtime) {
   if (rkb_screen_count(runtime->pipeline) && (runtime->compilers || runtime->confined))
      runtime->screen = rkb_screen_open(&(rkb_screen_options_t){.pipeline = runtime->pipeline,
                                                                .compilers = runtime->compilers,
                                                                .here = runtime->worker_count,
                                                                .note = note_screening,
                                                                .argument = runtime});
}

/* A GPU is looked for only when a stage asks for one; that stage says what its absence means. */
static void open_devices(rkb_runtime_t *runtime, uint64_t entries) {
   rkb_error_t err = {0};
   bool wanted = false;
   for (uint32_t i = 0; i < runtime->pipeline->entry_count; i++) {
      const rkb_stage_t *stage = runtime->pipeline->entries[i].stage;
      wanted |= (entries & ~runtime->skipped & (1ull << i)) && stage && (stage->flags & RKB_STAGE_EXCLUSIVE_GPU);
   }
   if (!wanted || runtime->devices)
      return;
   if (open_workers(runtime, &err) == RKB_OK)
      runtime->device_leases = rkb_devices_count(runtime->devices);
   else
      rkb_log_printf(runtime->log, RKB_LOG_WARN, "engine", "no GPU can be used: %s", err.message);
}

const char *rkb_runtime_device_class(const rkb_runtime_t *runtime) {
   return runtime->devices ? rkb_devices_class(runtime->devices) : NULL;
}

static void tell_over_budget(void *argument) {
   rkb_runtime_t *runtime = argument;
   rkb_runtime_note(runtime, "models", "%s", runtime->over_budget);
}

static void over_budget(void *argument, const char *text) {
   rkb_runtime_t *runtime = argument;
   snprintf(runtime->over_budget, sizeof runtime->over_budget, "%s", text);
   rkb_loop_post(runtime->loop, tell_over_budget, runtime);
}

/* Opens the language models that the pipeline lists, and threads that wait for their answers.  Waiting threads compute nothing, so
 * they must not take workers away. */
static int open_models(rkb_runtime_t *runtime, rkb_error_t *err) {
   const rkb_pipeline_t *pipeline = runtime->pipeline;
   rkb_error_t absent = {0};
   if (rkb_http_new(runtime->loop, NULL, &runtime->http, &absent) != RKB_OK)
      rkb_log_printf(runtime->log, RKB_LOG_DEBUG, "engine", "%s", absent.message);
   if (!rkb_models_count(pipeline->models))
      return RKB_OK;
   rkb_llm_options_t options = {.models = pipeline->models,
                                .archive = runtime->archive,
                                .loop = runtime->loop,
                                .http = runtime->http,
                                .log = runtime->log,
                                .cost_limit = pipeline->limit_cost_usd,
                                .over_budget = over_budget,
                                .argument = runtime};
   int status =
      rkb_workers_open(rkb_models_concurrency(pipeline->models), QUEUE_LIMIT, &runtime->waiters, err);
   return status == RKB_OK ? rkb_llm_open(&options, &runtime->llm, err) : status;
}

int rkb_runtime_start(rkb_runtime_t *runtime, uint64_t entries, rkb_error_t *err) {
   open_devices(runtime, entries);
   open_screening(runtime);
   int opened = open_models(runtime, err);
   if (opened != RKB_OK)
      return opened;
   for (uint32_t i = 0; i < runtime->pipeline->entry_count; i++) {
      rkb_instance_t *instance;
      if (!(entries & ~runtime->skipped & (1ull << i)) || !runtime->pipeline->entries[i].stage)
         continue;
      int status = rkb_instance_new(runtime, &runtime->pipeline->entries[i], &instance, err);
      if (status == RKB_OK)
         status = rkb_instance_start(instance, err);
      if (status != RKB_OK)
         return status;
   }
   for (rkb_instance_t *instance = runtime->instances; instance; instance = instance->next) {
      while (!instance->started && instance->running)
         rkb_loop_run(runtime->loop); /* the loop stops when start() has ended */
      if (!instance->started)
         return rkb_fail(
            err, instance->start_status, "%s could not be started: %.300s", instance->owner.entry->node.id,
            instance->start_error.message[0] ? instance->start_error.message : "it did not say why");
   }
   return RKB_OK;
}

void rkb_runtime_add(rkb_runtime_t *runtime, uint32_t entry, rkb_work_t *work) {
   rkb_instance_t *instance = runtime->current[entry];
   if (runtime->skipped & (1ull << entry)) {
      rkb_work_end(runtime, work, RKB_ERR_UNAVAILABLE, "left out by --skip-stage");
      return;
   }
   if (instance) {
      rkb_instance_add(instance, work);
      return;
   }
   for (instance = runtime->instances; instance->owner.entry->index != entry;)
      instance = instance->next;
   rkb_instance_add(instance, work); /* an instance that was written off starts no job */
   rkb_instance_flush(instance, RKB_ERR_UNAVAILABLE, "its stage hangs");
}

typedef struct look {
   rkb_runtime_t *runtime;
   uint64_t now, next;
} look_t;

static void cancel_job(rkb_runtime_t *runtime, const rkb_job_view_t *view) {
   if (!rkb_jobs_cancel(runtime->jobs, view->job))
      return;
   rkb_process_cancel_job(runtime, view->job);
   rkb_http_cancel_job(runtime, view->job);
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
      /* The deadline of a job that has not started is at least its limit from now. */
      due = (view->started_ns ? view->started_ns : look->now) + view->limit_ns;
      if (due <= look->now) {
         cancel_job(look->runtime, view);
         due = look->now + RKB_GRACE_NS;
      }
   }
   if (due < look->next)
      look->next = due;
}

static void clock_rings(void *argument) {
   rkb_runtime_t *runtime = argument;
   look_t look = {.runtime = runtime, .now = rkb_now_ns(), .next = UINT64_MAX};
   runtime->clock = NULL;
   rkb_jobs_each(runtime->jobs, look_at, &look);
   if (look.next != UINT64_MAX)
      rkb_runtime_watch(runtime, look.next);
}

static void cancel_each(void *argument, const rkb_job_view_t *view) {
   cancel_job(argument, view);
}

void rkb_runtime_cancel(rkb_runtime_t *runtime) {
   __atomic_store_n(&runtime->stopping, true, __ATOMIC_RELAXED);
   for (rkb_instance_t *instance = runtime->instances; instance; instance = instance->next)
      rkb_instance_flush(instance, RKB_ERR_CANCELLED, "the run is ending");
   rkb_jobs_each(runtime->jobs, cancel_each, runtime);
   rkb_runtime_watch(runtime, rkb_now_ns() + RKB_GRACE_NS);
}

int rkb_runtime_send(rkb_runtime_t *runtime, uint64_t rank, void (*fn)(void *), void *argument) {
   int status = rkb_workers_submit_ranked(runtime->workers, rank, fn, argument, NULL);
   runtime->away += status == RKB_OK;
   return status;
}

typedef struct homecoming {
   rkb_runtime_t *runtime;
   void (*back)(void *);
   void *argument;
} homecoming_t;

static void come_home(void *argument) {
   homecoming_t *homecoming = argument;
   homecoming->runtime->away--;
   homecoming->back(homecoming->argument);
   free(homecoming);
}

void rkb_runtime_returned(rkb_runtime_t *runtime, void (*back)(void *), void *argument) {
   homecoming_t *homecoming = rkb_allocate(1, sizeof *homecoming);
   *homecoming = (homecoming_t){.runtime = runtime, .back = back, .argument = argument};
   if (rkb_loop_post(runtime->loop, come_home, homecoming) != RKB_OK)
      abort();
}

static void stop_turning(void *argument) {
   rkb_loop_stop(argument);
}

static bool busy(const rkb_runtime_t *runtime, bool stopping) {
   if (runtime->away)
      return true;
   for (const rkb_instance_t *instance = runtime->instances; instance; instance = instance->next)
      if (!instance->written_off &&
          (instance->running || atomic_load(&instance->owner.posted) || (stopping && !instance->stopped)))
         return true;
   return false;
}

/* Runs the loop until no completion is outstanding or the time is up.  True when none is outstanding. */
static bool settle(rkb_runtime_t *runtime, bool stopping, uint64_t limit_ns) {
   uint64_t end = rkb_now_ns() + limit_ns;
   while (busy(runtime, stopping) && rkb_now_ns() < end) {
      rkb_timer_start(runtime->loop, 10000000, stop_turning, runtime->loop);
      rkb_loop_run(runtime->loop);
   }
   return !busy(runtime, stopping);
}

void rkb_runtime_close(rkb_runtime_t *runtime) {
   if (!runtime->loop)
      return;
   rkb_runtime_cancel(runtime);
   bool quiet = settle(runtime, false, 3 * RKB_GRACE_NS);
   for (rkb_instance_t *instance = runtime->instances; quiet && instance; instance = instance->next)
      rkb_instance_stop(instance);
   quiet = quiet && settle(runtime, true, STOP_LIMIT_NS);
   if (!quiet)
      runtime->hung = true;
   if (runtime->hung)
      return; /* threads may still use all of it, so nothing is freed and the process ends with _exit */
   while (runtime->instances) {
      rkb_instance_t *instance = runtime->instances;
      runtime->instances = instance->next;
      rkb_instance_free(instance);
   }
   rkb_timer_stop(runtime->clock);
   rkb_workers_close(runtime->workers);
   rkb_workers_close(runtime->waiters);
   close_screening(runtime);
   rkb_confined_close(runtime->confined);
   rkb_llm_close(runtime->llm);
   rkb_http_free(runtime->http);
   if (!runtime->devices_lent)
      rkb_devices_close(runtime->devices);
   rkb_loop_free(runtime->loop);
   rkb_jobs_free(runtime->jobs);
   rkb_source_cache_free(runtime->sources);
   runtime->sources = NULL;
   runtime->confined = NULL;
   runtime->screen = NULL;
   runtime->devices = NULL;
   runtime->llm = NULL;
   runtime->http = NULL;
   runtime->waiters = NULL;
   runtime->loop = NULL;
}
