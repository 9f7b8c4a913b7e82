/* What all stages of one run share: loop, workers, open jobs, and the services behind the extensions.  One a run, or one a
 * check.  The loop thread's, unless a member says otherwise. */
#ifndef RKB_ENGINE_CORE_H
#define RKB_ENGINE_CORE_H

#include <uv.h>
#include "base/log.h"
#include "engine/jobs.h"
#include "engine/pipeline.h"
#include "services/archive.h"

#define RKB_GRACE_NS 5000000000ull /* from cancelling a job to writing it off */

typedef struct rkb_core rkb_core_t;
struct rkb_instance;
struct rkb_workers;
struct rkb_compilers;

struct rkb_core {
   rkb_pipeline_t *pipeline;
   rkb_log_t *log;
   rkb_archive_t *archive;           /* or NULL; [any] */
   struct rkb_workers *workers;
   struct rkb_compilers *compilers;  /* or NULL: nothing needs a build; [any] */
   rkb_jobs_t *jobs;
   uv_loop_t loop;
   uv_async_t bell;                  /* jobs ended, or something was posted */
   uv_timer_t clock;                 /* the nearest deadline */
   bool clock_armed;
   uint64_t clock_due_ns;
   uint32_t worker_count;
   uint32_t device_leases;           /* free ones, for RKB_STAGE_EXCLUSIVE_GPU */
   struct rkb_instance *instances;   /* list of all, newest first */
   uint64_t jobs_ended;
   bool stopping;                    /* no job is started any more */
   bool hung;                        /* a job was written off: leave with _exit */
   struct rkb_posts *posts;          /* what host->post left; [any], locked inside */
};

/* jobs: worker threads, 0 for one a core. */
int rkb_core_open(rkb_core_t *core, rkb_pipeline_t *pipeline, rkb_log_t *log, uint32_t jobs, rkb_error_t *err);
/* Stops and frees all instances, then the rest.  What hung stays in memory. */
void rkb_core_close(rkb_core_t *core);
/* Runs callbacks until the condition holds: the one place that turns the loop. */
void rkb_core_turn(rkb_core_t *core, bool (*until)(void *argument), void *argument);
/* Runs fn(argument) on the loop after the current callback.  [any] */
void rkb_core_post(rkb_core_t *core, void (*fn)(void *), void *argument);
/* Runs fn(argument) on a worker.  [any] */
void rkb_core_work(rkb_core_t *core, void (*fn)(void *), void *argument);
/* Makes sure the clock looks at deadlines no later than due. */
void rkb_core_watch(rkb_core_t *core, uint64_t due_ns);
uint64_t rkb_now_ns(void); /* CLOCK_MONOTONIC */

#endif
