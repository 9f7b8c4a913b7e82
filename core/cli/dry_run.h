/* Shows what a pipeline would do, without running it. */
#ifndef RKB_CLI_DRY_RUN_H
#define RKB_CLI_DRY_RUN_H

#include "pipeline/pipeline.h"

/* Prints the resolved graph, the limits and the cost ceiling to standard output, in the confined process
 * (cli/shared/plugin_sandbox.h).  Returns that process's exit code: RKB_DRY_RUN_LOOKED plus bits for the tools that
 * a run needs. */
enum { RKB_DRY_RUN_LOOKED = 64, RKB_DRY_RUN_COMPILER = 1, RKB_DRY_RUN_DRIVER = 2 };
int rkb_dry_run(const rkb_pipeline_t *pipeline);

/* Takes the confined process's exit code and prints what the pipeline needs and this machine lacks.  Returns enum rkb_exit: OK, or
 * BROKEN when a tool is missing.  Any other code is returned unchanged. */
int rkb_dry_run_tools(int code);

/* Whether there is a compiler, if the pipeline builds candidates; if not, prints a message to standard error.  Without a compiler
 * every candidate would be unknown, and the money for proposals would be lost. */
bool rkb_compiler_present(const rkb_pipeline_t *pipeline);

#endif
