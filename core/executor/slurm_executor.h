/* The executor on Slurm: jobs are elements of an array job, handed over by sbatch and run by srun.  Loop thread only.
 *
 * It keeps no record, so this process may be killed, and the controller too.  The array's name is made from the directory, so a later process finds the jobs
 * in the queue by their name.  The caller knows which jobs are done. */
#ifndef RKB_EXECUTOR_SLURM_EXECUTOR_H
#define RKB_EXECUTOR_SLURM_EXECUTOR_H

#include "executor/executor.h"

extern const rkb_executor_operations_t rkb_slurm_executor;

rkb_executor_t *rkb_slurm_executor_new(const rkb_executor_options_t *options);

#endif
