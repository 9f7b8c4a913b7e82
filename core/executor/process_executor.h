/* Executors whose jobs are child processes, on this machine or through ssh.  Each child's standard input is a pipe without data. The pipe closes when this
 * process ends the job or is killed.  The job then ends as it would by ^C (--until-input-ends).  Loop thread only. */
#ifndef RKB_EXECUTOR_PROCESS_EXECUTOR_H
#define RKB_EXECUTOR_PROCESS_EXECUTOR_H

#include "executor/executor.h"

extern const rkb_executor_operations_t rkb_local_executor, rkb_ssh_executor;

rkb_executor_t *rkb_process_executor_new(const rkb_destination_t *destination,
                                         const rkb_executor_options_t *options);

#endif
