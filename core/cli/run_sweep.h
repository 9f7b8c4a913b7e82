/* rkb-run --sweep and --on, and --resume of a sweep's directory: makes the plan, runs the cells where --on says and shows how far they are.
 * A run that --on sends elsewhere is a sweep of one cell.  The main thread alone. */
#ifndef RKB_CLI_RUN_SWEEP_H
#define RKB_CLI_RUN_SWEEP_H

#include "base/secret.h"
#include "cli/arguments.h"
#include "pipeline/pipeline.h"

/* Runs the cells of a pipeline that is a sweep, or without --sweep one run, in a new directory.  secret: NULL to draw one.  Returns enum rkb_exit. */
int rkb_run_new_sweep(const rkb_arguments_t *arguments, const rkb_pipeline_t *pipeline,
                      const rkb_secret_t *secret);
/* Goes on with the sweep or the run in a directory. */
int rkb_run_old_sweep(const rkb_arguments_t *arguments, const char *directory);

#endif
