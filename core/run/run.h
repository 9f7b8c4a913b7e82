/* Running a pipeline.  rkb_run turns the calling thread into the loop until it returns; only rkb_interrupt is [any] and safe
 * in a signal handler. */
#ifndef RKB_RUN_RUN_H
#define RKB_RUN_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include "base/log.h"
#include "base/secret.h"
#include "pipeline/pipeline.h"

enum rkb_event_kind {
   RKB_EVENT_REQUEST,     /* asked: request, section, entry (operator; "" when empty) */
   RKB_EVENT_CANDIDATE,   /* numbered: candidate, request, section, entry (operator) */
   RKB_EVENT_STAGE_START, /* entry, candidate (0 for an operator's job) */
   /* entry, candidate, standing and reason ("" when it gave no verdict), seconds, attempts */
   RKB_EVENT_STAGE_END,
   RKB_EVENT_CANDIDATE_END, /* screened, or evaluated: candidate, standing, reason, duplicate_of, objective */
   RKB_EVENT_GROUP,         /* a promote group closed: request is its last member, count how many passed */
   RKB_EVENT_REQUEST_END,   /* finished and told: request, section */
   RKB_EVENT_BEST,          /* candidate and objective are the new best */
   /* text: something a person should know (a tool failed, an instance was written off) */
   RKB_EVENT_NOTE
};

typedef struct rkb_stage_progress {
   const char *id;
   uint32_t section; /* enum rkb_pipeline_section */
   uint32_t waiting, running;
   uint64_t done, passed, rejected, unknown, skipped;
} rkb_stage_progress_t;

typedef struct rkb_event {
   uint32_t kind;
   uint32_t section;  /* enum rkb_request_section of archive/archive.h; 0 when it does not apply */
   const char *entry; /* never NULL */
   int64_t request, candidate, duplicate_of;
   const char *standing, *reason, *text; /* never NULL */
   bool has_objective;
   double objective, seconds;
   uint32_t attempts, count;
   /* The state after the event, all stages in graph order; valid until the observer returns. */
   const rkb_stage_progress_t *stages;
   uint32_t stage_count;
   uint64_t candidates, duplicates, told; /* so far: numbered without duplicates, duplicates, requests told */
   double elapsed_seconds, cost_usd, reserved_usd; /* charged, and reserved by questions in progress */
} rkb_event_t;

typedef struct rkb_run_options {
   const char *directory; /* existing run directory; NULL: nothing is kept (no archive) */
   const char *library;   /* folder of elites, to read before and to add to at the end; or a run's directory, to read what that run read; NULL */
   bool resume;           /* directory holds a run to go on with */
   uint32_t jobs;         /* worker threads; 0: one a core */
   const rkb_secret_t *secret; /* NULL: the archive's on resume, else drawn */
   const char *const *skip; /* ids of stages that run no more, NULL-terminated; NULL: none.  With resume alone */
   rkb_log_t *log;        /* not NULL */
   bool catch_signals;    /* SIGINT and SIGTERM end the run cleanly; a second one kills it at once */
   bool until_input_ends; /* the end of standard input, which must be a pipe or a terminal, ends the run as SIGINT does */
   void (*observe)(void *argument, const rkb_event_t *event); /* on the loop, must be quick; or NULL */
   void *argument;
   int *interrupt_handle; /* receives what rkb_interrupt takes while the run lasts, or NULL */
} rkb_run_options_t;

enum rkb_ending {
   RKB_ENDED_DONE = 1, /* the strategy had no more, or there was no search */
   RKB_ENDED_LIMIT,    /* limits.candidates, calls, generations or stale */
   RKB_ENDED_STUCK,    /* a whole window of WAIT */
   RKB_ENDED_WALL,
   RKB_ENDED_COST,
   RKB_ENDED_INTERRUPTED /* resumable */
};

typedef struct rkb_run_result {
   uint32_t ending;  /* enum rkb_ending */
   char reason[128]; /* in words: "limits.generations (25) reached" */
   int64_t best;     /* candidate number, 0: none accepted */
   bool has_objective;
   double objective, first_objective; /* of best, and of the best one of the propose section (NaN: none) */
   double least;                      /* how low the best one's objective can get; NaN: not known */
   bool verified_by_execution;
   uint64_t candidates, duplicates, accepted, suspect, unknown, rejected, told, jobs;
   double seconds, earlier_seconds; /* in all, and of those in the processes that the run was resumed from */
   bool must_exit_hard;             /* a job hangs in a thread: leave with _exit, not exit */
   rkb_secret_t secret;             /* the secret that the run uses, once it has begun */
   bool begun; /* false: refused before its first request, and nothing of it is worth keeping */
} rkb_run_result_t;

/* Runs to an ending.  RKB_OK whatever was found; otherwise err says which tool, disk or contract broke and outcome holds
 * how far it came. */
int rkb_run(rkb_pipeline_t *pipeline, const rkb_run_options_t *options, rkb_run_result_t *outcome,
            rkb_error_t *err);
/* Asks a run to end as ^C does.  handle is what the run wrote to *interrupt_handle.  [any], async-signal-safe */
void rkb_interrupt(int handle);

#endif
