/* The executor on Slurm: jobs are elements of an array job, handed over by sbatch and run by srun.  Loop thread only.
 *
 * It keeps no record.  The array's name is made from the directory, so a later process finds its jobs in the queue by their name; which
 * jobs are done is the caller's knowledge.  So this process may be killed, and the controller too. */
#ifndef RKB_EXECUTOR_SLURM_EXECUTOR_H
#define RKB_EXECUTOR_SLURM_EXECUTOR_H

#include "executor/executor.h"

extern const rkb_executor_operations_t rkb_slurm_executor;

rkb_executor_t *rkb_slurm_executor_new(const rkb_executor_options_t *options);

#endif
