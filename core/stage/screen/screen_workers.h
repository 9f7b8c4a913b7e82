/* Screening workers: processes of this machine or of others that build and judge candidates for this run, one job at a time each
 * (docs/workers.md).  What they find does not depend on where it was found.  A thread that has a job takes a place for it: a worker, or
 * this machine.  Any thread, unless said otherwise. */
#ifndef RKB_STAGE_SCREEN_SCREEN_WORKERS_H
#define RKB_STAGE_SCREEN_SCREEN_WORKERS_H

#include "kernel/compilers.h"
#include "pipeline/pipeline_parts.h"
#include "system/peer.h"

typedef struct rkb_screen_workers rkb_screen_workers_t;
typedef struct rkb_screen_slot rkb_screen_slot_t; /* one worker */

/* How many there will be when all come up; 0: the pipeline lists none. */
uint32_t rkb_screen_count(const rkb_pipeline_t *pipeline);

typedef struct rkb_screen_options {
   const rkb_pipeline_t *pipeline; /* outlives the workers */
   rkb_compilers_t *compilers;     /* of this machine, or NULL: nothing is built; outlives the workers */
   uint32_t here;                  /* jobs that this machine may have at a time */
   void (*note)(void *argument, int level, const char *text); /* what the log should say, at which level of rkb/plugin.h; called on any thread */
   void *argument;
} rkb_screen_options_t;

/* Begins to start them, on threads of its own, and returns at once.  [loop] */
rkb_screen_workers_t *rkb_screen_open(const rkb_screen_options_t *options);
/* Ends them.  NULL is accepted.  No job is at work.  [loop] */
void rkb_screen_close(rkb_screen_workers_t *workers);
/* How many builds and jobs the workers took so far, and how many this machine.  workers NULL: none. */
void rkb_screen_tally(rkb_screen_workers_t *workers, uint64_t *there, uint64_t *here);
bool rkb_screen_any(const rkb_screen_workers_t *workers); /* NULL: none */

/* Takes a place for a job: a worker that is free, or this machine (*slot is NULL).  here: this machine alone will do.  False when cancelled said so.
 * Give it back.  workers NULL: this machine, at once. */
bool rkb_screen_take(rkb_screen_workers_t *workers, bool here, bool (*cancelled)(void *), void *argument,
                     rkb_screen_slot_t **slot);
void rkb_screen_give(rkb_screen_workers_t *workers, rkb_screen_slot_t *slot);

/* What follows is for who has taken the slot. */
rkb_peer_t *rkb_screen_peer(rkb_screen_slot_t *slot);
/* Compilers that compile there.  They give RKB_ERR_UNAVAILABLE when the worker was lost by it (rkb_screen_lost). */
rkb_compilers_t *rkb_screen_compilers(rkb_screen_slot_t *slot);
bool rkb_screen_lost(const rkb_screen_slot_t *slot);
/* Begins a job of an entry: the job's own frames follow (confined/confined_call.c). */
int rkb_screen_begin_job(rkb_screen_slot_t *slot, uint32_t entry, bool (*cancelled)(void *), void *argument,
                         rkb_error_t *err);
/* Ends its process, which is started again: at once when why is NULL, else after a while, with a note. */
void rkb_screen_drop(rkb_screen_slot_t *slot, const char *why);

#endif
