/* Shows what a pipeline would do, without running it. */
#ifndef RKB_CLI_DRY_RUN_H
#define RKB_CLI_DRY_RUN_H

#include "pipeline/pipeline.h"

/* Prints the resolved graph, the limits and the cost ceiling to standard output, in the confined process (cli/plugin_sandbox.h), and returns
 * its exit code: RKB_DRY_RUN_LOOKED with what a run needs. */
enum { RKB_DRY_RUN_LOOKED = 64, RKB_DRY_RUN_COMPILER = 1, RKB_DRY_RUN_DRIVER = 2 };
int rkb_dry_run(const rkb_pipeline_t *pipeline);

/* Takes that process's exit code and prints what is missing to run it; returns enum rkb_exit: OK, or BROKEN when a tool that it needs is
 * missing.  Another code comes back as it is. */
int rkb_dry_run_tools(int code);

/* Whether a pipeline that builds candidates has a compiler; tells on standard error when it has none.  Without one every
 * candidate would end as unknown, and what proposed them would be paid for nothing. */
bool rkb_compiler_present(const rkb_pipeline_t *pipeline);

#endif
