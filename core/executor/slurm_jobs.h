/* The jobs of an array: each one's phase, according to squeue, and the reports about it.  slurm_executor.c owns them and calls
 * Slurm's commands.  Loop thread only. */
#ifndef RKB_EXECUTOR_SLURM_JOBS_H
#define RKB_EXECUTOR_SLURM_JOBS_H

#include "executor/executor.h"
#include "executor/slurm_queue.h"

enum { RKB_SLURM_MAX_WHERE = 128 };

enum rkb_slurm_phase {
   RKB_SLURM_IDLE = 0, /* not started, or ended */
   RKB_SLURM_WANTED,   /* started, and in no queue yet as far as is known */
   RKB_SLURM_HANDED,   /* sbatch has taken it; squeue has not shown it yet */
   RKB_SLURM_WAITING,
   RKB_SLURM_RUNNING
};

typedef struct rkb_slurm_job {
   uint32_t phase;   /* enum rkb_slurm_phase */
   uint64_t array;   /* the number of the array that it is an element of; rows of earlier ones say nothing */
   uint64_t removed; /* when stuck: the array whose element is to leave the queue */
   bool stuck, seen, told_held;
   rkb_slurm_row_t row; /* the newest of the answer that is read now, when seen */
   char where[RKB_SLURM_MAX_WHERE];
} rkb_slurm_job_t;

typedef struct rkb_slurm_jobs {
   const rkb_executor_options_t *options;
   rkb_slurm_job_t *list; /* options->count */
   char *name;            /* of the arrays, without the chunk */
   uint64_t looked_for;   /* array, in the answer that is read now; found says whether it is there */
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
/* The jobs of a chunk that wait to be handed over are elements of this array now. */
void rkb_slurm_jobs_handed(rkb_slurm_jobs_t *jobs, uint32_t chunk, uint64_t array);

#endif
