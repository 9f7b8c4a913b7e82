/* The build that suffices for a prediction: PTX of what the bench cases launch (RKB_BUILD_BENCH). */
#ifndef RKB_STAGE_LAUNCHED_BUILD_H
#define RKB_STAGE_LAUNCHED_BUILD_H

#include "kernel/kernel.h"
#include "stage/runtime.h"

/* *build NULL with a finding: the text does not build, or a bench case has no plan.  Any worker. */
int rkb_bench_build(const rkb_runtime_t *runtime, const rkb_source_t *source, const char *tune_json,
                    bool (*cancelled)(void *), void *argument, rkb_build_t **build, rkb_finding_t *finding,
                    rkb_error_t *err);

#endif
