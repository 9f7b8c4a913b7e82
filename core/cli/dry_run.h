/* Shows what a pipeline would do, without running it. */
#ifndef RKB_CLI_DRY_RUN_H
#define RKB_CLI_DRY_RUN_H

#include "pipeline/pipeline.h"

/* Prints the resolved graph, the limits and the cost ceiling to standard output, and what is missing to run it; returns
 * enum rkb_exit: OK, or BROKEN when a tool that it needs is missing. */
int rkb_dry_run(const rkb_pipeline_t *pipeline);

/* Whether a pipeline that builds candidates has a compiler; if not, says so on standard error.  Without a compiler every candidate would
 * end as unknown, and the language models' work would be paid for nothing. */
bool rkb_compiler_present(const rkb_pipeline_t *pipeline);

#endif
