/* rkb-run --sweep and --on, and --resume of a sweep's directory: makes the plan, runs the cells at the
 * destination of --on, and shows their progress.  A run that --on sends elsewhere is a sweep of one cell.
 * Only the main thread. */
#ifndef RKB_CLI_RUN_SWEEP_H
#define RKB_CLI_RUN_SWEEP_H

#include "base/secret.h"
#include "cli/shared/arguments.h"
#include "pipeline/pipeline.h"

/* Runs the cells of a pipeline that is a sweep, or one run without --sweep, in a new directory.  secret: NULL
 * to draw one.  Returns enum rkb_exit. */
int rkb_run_new_sweep(const rkb_arguments_t *arguments, const rkb_pipeline_t *pipeline,
                      const rkb_secret_t *secret);
/* Resumes the sweep or the run in a directory. */
int rkb_run_old_sweep(const rkb_arguments_t *arguments, const char *directory);

#endif
