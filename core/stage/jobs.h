/* Jobs: handles of the work that stages are doing.  A handle is a slot and its generation, so a completion that comes late or
 * twice matches no job.  One mutex guards the table: at 200,000 jobs a second it is held for about 2 % of the time, and nothing
 * blocks while holding it. */
#ifndef RKB_STAGE_JOBS_H
#define RKB_STAGE_JOBS_H

#include <stdbool.h>
#include <stdint.h>
#include <rkb/plugin.h>

#define RKB_MAX_JOBS (1u << 16) /* open at a time */
#define RKB_MAX_EMITTED 4096    /* items of one job */
#define RKB_MAX_CANDIDATES_EMITTED 64

typedef struct rkb_jobs rkb_jobs_t;
struct rkb_instance;
struct rkb_candidate;

/* The subject of a job, for extensions.  The candidate lives as long as the job is open. */
typedef struct rkb_scope {
   uint32_t section;                /* enum rkb_request_section */
   int64_t request;                 /* number within the section */
   uint32_t child;                  /* of the candidate among its request's */
   struct rkb_candidate *candidate; /* NULL for an operator's job */
} rkb_scope_t;

/* A job that ended, or that was written off. */
typedef struct rkb_ended {
   struct rkb_ended *next;
   struct rkb_work *work;
   rkb_job_t job; /* 0: written off */
   int status;
   rkb_error_t error;
   rkb_item_t **items; /* owned; none unless status is RKB_OK */
   uint32_t item_count;
   uint64_t started_ns, ended_ns; /* CLOCK_MONOTONIC */
} rkb_ended_t;

enum rkb_job_answer { RKB_JOB_TAKEN = 0, RKB_JOB_LATE, RKB_JOB_TWICE };

/* ring(argument) is called, on any thread, when the list of ended jobs stops being empty. */
rkb_jobs_t *rkb_jobs_new(void (*ring)(void *), void *argument);
void rkb_jobs_free(rkb_jobs_t *jobs);

/* Opens a job; 0 when all slots are taken.  limit_ns: deadline from when it starts, 0 for none.  [loop] */
rkb_job_t rkb_jobs_open(rkb_jobs_t *jobs, struct rkb_work *work, struct rkb_instance *instance,
                        const rkb_scope_t *scope, uint64_t limit_ns);
/* Starts its deadline.  False when it was cancelled before it began.   [any] */
bool rkb_jobs_start(rkb_jobs_t *jobs, rkb_job_t job);
/* Takes ownership of item in any case.  A fault (an undeclared type, too many items) ends the job with RKB_ERR_CONTRACT.   [any] */
void rkb_jobs_emit(rkb_jobs_t *jobs, rkb_job_t job, rkb_item_t *item);
/* Ends a job of instance, once.  [any] */
enum rkb_job_answer rkb_jobs_complete(rkb_jobs_t *jobs, rkb_job_t job, const struct rkb_instance *instance,
                                      int status, const rkb_error_t *error);
bool rkb_jobs_cancelled(rkb_jobs_t *jobs, rkb_job_t job); /* True also for a job that has ended.  [any] */
uint64_t rkb_jobs_deadline(rkb_jobs_t *jobs, rkb_job_t job);
/* False when there is no such job.  [any] */
bool rkb_jobs_scope(rkb_jobs_t *jobs, rkb_job_t job, rkb_scope_t *scope);
/* The candidate of the open job whose source text is at this address, or NULL.  Valid while that job runs.   [any] */
struct rkb_candidate *rkb_jobs_candidate_of(rkb_jobs_t *jobs, const char *source);

/* Asks a job to end; true only for the first request. [loop] */
bool rkb_jobs_cancel(rkb_jobs_t *jobs, rkb_job_t job);
/* Ends a job that its stage does not end.  Its handle is invalid from now on.   [loop] */
void rkb_jobs_write_off(rkb_jobs_t *jobs, rkb_job_t job, const char *why);
/* The jobs that ended since the last call, oldest first.  Release each with rkb_ended_free.   [loop] */
rkb_ended_t *rkb_jobs_take(rkb_jobs_t *jobs);
void rkb_ended_free(rkb_ended_t *ended);

/* Visits open jobs that have not ended.  visit may cancel and write off.  [loop] */
typedef struct rkb_job_view {
   rkb_job_t job;
   struct rkb_work *work;
   struct rkb_instance *instance;
   uint64_t started_ns, limit_ns; /* started_ns 0: not started yet */
   bool cancelled;
   uint64_t cancelled_ns;
} rkb_job_view_t;
void rkb_jobs_each(rkb_jobs_t *jobs, void (*visit)(void *argument, const rkb_job_view_t *view),
                   void *argument);

#endif
