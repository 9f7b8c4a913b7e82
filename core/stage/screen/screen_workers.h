/* Screening workers: processes of this machine or of others that build and judge candidates for this run, one job at a time each
 * (docs/workers.md).  The result of a job does not depend on the machine.  A thread that has a job takes a place for it: a
 * worker, or this machine.  Any thread, unless said otherwise. */
#ifndef RKB_STAGE_SCREEN_SCREEN_WORKERS_H
#define RKB_STAGE_SCREEN_SCREEN_WORKERS_H

#include "kernel/compilers.h"
#include "pipeline/pipeline_parts.h"
#include "system/pipe_process.h"

typedef struct rkb_screen_workers rkb_screen_workers_t;
typedef struct rkb_screen_slot rkb_screen_slot_t; /* one worker */

/* The number of workers when all have started; 0: the pipeline lists none. */
uint32_t rkb_screen_count(const rkb_pipeline_t *pipeline);

typedef struct rkb_screen_options {
   const rkb_pipeline_t *pipeline; /* outlives the workers */
   rkb_compilers_t *compilers;     /* of this machine, or NULL: nothing is built; outlives the workers */
   uint32_t here;                  /* jobs that this machine may execute at a time */
   void (*note)(void *argument, int level, const char *text); /* receives a line for the log, and its level of rkb/plugin.h; called on any thread */
   void *argument;
} rkb_screen_options_t;

/* Begins to start the workers, on threads of their own, and returns at once. [loop] */
rkb_screen_workers_t *rkb_screen_open(const rkb_screen_options_t *options);
/* Ends the workers.  NULL is accepted.  No job may be running. [loop] */
void rkb_screen_close(rkb_screen_workers_t *workers);
/* Counts the builds and jobs that the workers took so far, and those that this machine took. workers NULL: both are 0. */
void rkb_screen_tally(rkb_screen_workers_t *workers, uint64_t *there, uint64_t *here);
bool rkb_screen_any(const rkb_screen_workers_t *workers); /* NULL: none */

/* Takes a place for a job: sets *slot to a free worker, or to NULL for this machine.  With `here` only this machine is taken.
 * False when cancelled returned true.  Give the place back with rkb_screen_give. workers NULL: takes this machine at once. */
bool rkb_screen_take(rkb_screen_workers_t *workers, bool here, bool (*cancelled)(void *), void *argument,
                     rkb_screen_slot_t **slot);
void rkb_screen_give(rkb_screen_workers_t *workers, rkb_screen_slot_t *slot);

/* The following functions are for the thread that has taken the slot. */
rkb_pipe_process_t *rkb_screen_peer(rkb_screen_slot_t *slot);
/* Compilers that compile on the slot's worker.  They return RKB_ERR_UNAVAILABLE when the worker is lost meanwhile
 * (rkb_screen_lost). */
rkb_compilers_t *rkb_screen_compilers(rkb_screen_slot_t *slot);
bool rkb_screen_lost(const rkb_screen_slot_t *slot);
/* Begins a job of an entry.  The job's own frames follow (confined_call.c). */
int rkb_screen_begin_job(rkb_screen_slot_t *slot, uint32_t entry, bool (*cancelled)(void *), void *argument,
                         rkb_error_t *err);
/* Ends the worker's process.  It is started again: at once when why is NULL, otherwise after SCREEN_LOST_NS and with a note. */
void rkb_screen_drop(rkb_screen_slot_t *slot, const char *why);

#endif
