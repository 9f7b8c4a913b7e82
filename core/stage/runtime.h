/* State that all stages of a run share: the loop, workers, open jobs, and the services behind the extensions.  Each run and each check has
 * one.  Members belong to the loop thread unless marked otherwise. */
#ifndef RKB_STAGE_RUNTIME_H
#define RKB_STAGE_RUNTIME_H

#include "base/log.h"
#include "base/secret.h"
#include "stage/jobs.h"
#include "pipeline/pipeline_parts.h"
#include "archive/archive.h"
#include "system/loop.h"
#include "system/workers.h"

#define RKB_GRACE_NS 5000000000ull /* from cancelling a job to writing it off */
#define RKB_MAX_REPLACED 3         /* instances of one entry that may be written off */

struct rkb_instance;
struct rkb_work;
struct rkb_compilers;
struct rkb_confined;
struct rkb_confined_job;
struct rkb_devices;
struct rkb_http;
struct rkb_library;
struct rkb_llm;
struct rkb_screen_workers;
struct rkb_source_cache;

typedef struct rkb_runtime {
   rkb_pipeline_t *pipeline;
   rkb_log_t *log;                  /* [any] */
   /* key of the samples that judging stages draw; set before the first job, then [any] */
   rkb_secret_t secret;
   rkb_archive_t *archive;          /* or NULL; [any] */
   struct rkb_confined *confined;         /* or NULL: no stage's jobs run in processes of their own; [any] */
   struct rkb_confined_job *confined_job; /* in such a process: its channel and threads; NULL in the program; [any] */
   struct rkb_source_cache *sources;      /* texts that were read; NULL in a process for jobs; [any] */
   struct rkb_compilers *compilers; /* or NULL: nothing needs a build; [any] */
   struct rkb_screen_workers *screen; /* or NULL: everything is built and judged on this machine; [any] */
   struct rkb_devices *devices;     /* or NULL: no stage needs a GPU, or there is none; [any] */
   bool devices_lent;               /* the owner opened them and closes them */
   struct rkb_http *http;           /* or NULL: this build has no HTTP client; belongs to the loop */
   const struct rkb_library *library; /* or NULL: the run was given none; the owner's; [any] */
   struct rkb_llm *llm;             /* or NULL: the pipeline lists no models; [any] */
   rkb_loop_t *loop;
   rkb_workers_t *workers; /* [any] */
   rkb_workers_t *waiters; /* threads for stages that mostly wait, or NULL when there is no such stage; [any] */
   rkb_jobs_t *jobs;       /* [any] */
   rkb_timer_t *clock;     /* the nearest deadline, or NULL */
   uint64_t clock_due_ns;
   void (*clock_rings)(void *runtime);
   uint32_t worker_count; /* threads, without those that wait for screening workers */
   uint32_t device_leases;                        /* free leases, for RKB_STAGE_EXCLUSIVE_GPU */
   struct rkb_instance *current[RKB_MAX_ENTRIES]; /* by entry; NULL: none, or written off for good */
   struct rkb_instance *instances;                /* every instance that was ever made */
   uint32_t replaced[RKB_MAX_ENTRIES];
   struct rkb_child *children;          /* processes that jobs started asynchronously */
   struct rkb_lent_transfer *transfers; /* transfers that jobs started through rkb.draft.http */
   uint32_t away;                       /* the core's own calls that are still on workers */
   uint64_t skipped; /* entries that the user left out: their work ends at once; set before the start */
   uint64_t jobs_ended;
   bool stopping;         /* no job is started any more; read by workers, atomically */
   char over_budget[320]; /* the message for when the budget is spent; written once */
   bool hung;             /* a job was written off: leave with _exit */
   /* Receives messages for the user; set by the owner, or NULL. */
   void (*note)(void *argument, const char *entry, const char *text);
   void *note_argument;
} rkb_runtime_t;

/* The layers that confine the processes of jobs (rkb_confined_layers); "": no stage wants such processes, or they are not known.  [any] */
const char *rkb_runtime_layers(const rkb_runtime_t *runtime);

/* jobs: worker threads, 0 for one a core.  Call it while the process has one thread: it forks (stage/confined/confined.h). */
int rkb_runtime_open(rkb_runtime_t *runtime, rkb_pipeline_t *pipeline, rkb_log_t *log, uint32_t jobs,
                  rkb_error_t *err);
/* Makes and starts an instance for every stage of the pipeline in entries (a set); blocks until all have started. */
int rkb_runtime_start(rkb_runtime_t *runtime, uint64_t entries, rkb_error_t *err);
/* The name of the GPUs that the runtime measures on; NULL when none is open. */
const char *rkb_runtime_device_class(const rkb_runtime_t *runtime);
/* Ends all jobs, stops and frees all instances, and then the rest.  Hung instances stay in memory. */
void rkb_runtime_close(rkb_runtime_t *runtime);
/* Gives work to the entry's stage. */
void rkb_runtime_add(rkb_runtime_t *runtime, uint32_t entry, struct rkb_work *work);
/* Starts no more jobs and asks all open ones to end.   done is called for each piece of work that was open or waiting. */
void rkb_runtime_cancel(rkb_runtime_t *runtime);
/* Makes sure that deadlines are checked no later than due. */
void rkb_runtime_watch(rkb_runtime_t *runtime, uint64_t due_ns);
/* Runs fn on a worker, for the core's own work; rank: of the request that it is done for (rkb_request_rank).  fn ends by calling rkb_runtime_returned, which runs `back` on the loop.  The
 * runtime does not close before all such calls have returned. */
int rkb_runtime_send(rkb_runtime_t *runtime, uint64_t rank, void (*fn)(void *), void *argument); /* [loop] */
void rkb_runtime_returned(rkb_runtime_t *runtime, void (*back)(void *), void *argument);         /* [worker] */
void rkb_runtime_note(rkb_runtime_t *runtime, const char *entry, const char *fmt, ...) RKB_PRINTF(3, 4);

#endif
