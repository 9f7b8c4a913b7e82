/* Jobs in processes of their own (rkb/ext/confined.h, docs/decisions/machine-process.md).
 *
 *    program ──► keeper ──► server ──► a fork for each job
 *
 * The keeper is forked when the core opens, before it has threads or keys, and only starts a server again when one dies.  The server
 * holds the pipeline, the task and the stages; it reads nothing of a candidate.  A job's fork reads the candidate, runs the stage and
 * answers; the program checks what it says as it would check a file from outside.
 *
 * This folder knows the processes and what they say to each other, and neither instances nor jobs: those stand above it.  What a fork does is
 * the caller's (rkb_confined_work_t; stage/confined_job.c), and so is the program's side of a job (stage/confined_call.c). */
#ifndef RKB_STAGE_CONFINED_CONFINED_H
#define RKB_STAGE_CONFINED_CONFINED_H

#include <pthread.h>
#include <sys/types.h>
#include <rkb/ext/kernel.h>
#include <rkb/ext/random.h>
#include "base/text.h"
#include "pipeline/pipeline_parts.h"

typedef struct rkb_confined {
   pid_t keeper;
   int control;                    /* the socket to the server */
   const rkb_pipeline_t *pipeline; /* the caller's; its limits hold for the forks */
   char layers[48];                /* as rkb_confined_layers says; "" if it could not be found out */
} rkb_confined_t;

/* What the server and its forks do.  All of it is called there, and nothing in the program. */
typedef struct rkb_confined_work {
   void (*open)(void *argument);                 /* in the server, once */
   void (*warm)(void *argument, uint32_t entry); /* in the server, before it forks for a job of the entry */
   /* In the fork: reads the job from the channel, executes it and answers.  False when the request is malformed or the program is gone. */
   bool (*serve)(void *argument, uint32_t entry, uint32_t threads, int channel);
   void *argument;
} rkb_confined_work_t;

/* Whether the stage wants a process for each job. */
bool rkb_confined_wanted(const rkb_stage_t *stage);

/* Forks the keeper if a stage of the pipeline wants it; otherwise *confined is NULL.  The pipeline outlives it.  [loop, before there is another
 * thread] */
int rkb_confined_open(const rkb_pipeline_t *pipeline, const rkb_confined_work_t *work, rkb_confined_t **confined, rkb_error_t *err);
/* Ends the keeper, the server and their forks.  NULL is accepted. [loop] */
void rkb_confined_close(rkb_confined_t *confined);

/* The layers that confine a job's process on this machine, as "capabilities landlock seccomp", with "no-" before a layer that the
 * kernel lacks.  A child process gives up the same rights and reports.  False when no child could be made.   [before there are other
 * threads] */
bool rkb_confined_layers(rkb_text_t *layers);

/* What a job's process has in addition to its copy of the runtime. */
typedef struct rkb_confined_job {
   int channel;
   uint32_t threads; /* that may compute */
   pthread_mutex_t asking; /* held while a question waits for its answer */
} rkb_confined_job_t;

/* In a job's process: asks the program for a build with these flags (enum rkb_build_flags).  As rkb_build_candidate.  */
int rkb_confined_build(rkb_confined_job_t *own, uint32_t flags, rkb_build_t **build,
                       rkb_finding_t *finding, rkb_error_t *err);
/* In a job's process: as for_job of rkb/ext/random.h.  When the program does not answer, the process ends. */
rkb_random_t rkb_confined_stream(rkb_confined_job_t *own, uint32_t child);
/* In a job's process: as rkb_workers_run_parts, on threads that this call starts and joins. */
void rkb_confined_share(const rkb_confined_job_t *own, uint32_t count, void (*part)(void *argument, uint32_t n),
                        void *argument);

#endif
