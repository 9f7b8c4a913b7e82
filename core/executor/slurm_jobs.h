/* The jobs of an array: the phase of each, by squeue's answers, and the events that report its changes.  slurm_executor.c owns them and calls Slurm's
 * commands.  Loop thread only. */
#ifndef RKB_EXECUTOR_SLURM_JOBS_H
#define RKB_EXECUTOR_SLURM_JOBS_H

#include "executor/executor.h"
#include "executor/slurm_queue.h"

enum { RKB_SLURM_MAX_WHERE = 128 };

enum rkb_slurm_phase {
   RKB_SLURM_IDLE = 0, /* not started, or ended */
   RKB_SLURM_WANTED,   /* started, and not known to be in the queue */
   RKB_SLURM_HANDED,   /* sbatch has taken it; squeue has not shown it yet */
   RKB_SLURM_WAITING,
   RKB_SLURM_RUNNING
};

typedef struct rkb_slurm_job {
   uint32_t phase;   /* enum rkb_slurm_phase */
   uint64_t array;   /* the number of the array of which the job is an element; rows of earlier arrays say nothing about it */
   uint64_t removed; /* the array whose element must leave the queue, because it is stuck */
   bool stuck, seen, told_held;
   rkb_slurm_row_t row; /* the newest row of the job in the present answer, if `seen` */
   char where[RKB_SLURM_MAX_WHERE];
} rkb_slurm_job_t;

typedef struct rkb_slurm_jobs {
   const rkb_executor_options_t *options;
   rkb_slurm_job_t *list; /* options->count */
   char *name;            /* the arrays' name, without the chunk's number */
   uint64_t looked_for;   /* the array that is searched in the present answer; `found` says whether it is there */
   bool found;
   bool changed; /* something has happened since this was cleared */
} rkb_slurm_jobs_t;

void rkb_slurm_jobs_init(rkb_slurm_jobs_t *jobs, const rkb_executor_options_t *options);
void rkb_slurm_jobs_release(rkb_slurm_jobs_t *jobs);

/* Reads squeue's output and reports changes of every started job.  The callbacks may start jobs. */
void rkb_slurm_jobs_follow(rkb_slurm_jobs_t *jobs, const char *answer);
bool rkb_slurm_jobs_any(const rkb_slurm_jobs_t *jobs, uint32_t phase);
/* Reports every job in the phase (0: every one that has not ended) as removed. */
void rkb_slurm_jobs_remove(rkb_slurm_jobs_t *jobs, uint32_t phase, const char *text);
/* Notes that the wanted jobs of a chunk are elements of this array now. */
void rkb_slurm_jobs_handed(rkb_slurm_jobs_t *jobs, uint32_t chunk, uint64_t array);

#endif
