/* Writes the text that `rkb build` prints.  Any thread. */
#ifndef RKB_KERNEL_BUILD_REPORT_H
#define RKB_KERNEL_BUILD_REPORT_H

#include "kernel/kernel.h"
#include "base/text.h"

/* Writes kernels with registers, spills, memory and parameters; then hashes and warnings. */
void rkb_build_report(const rkb_build_t *build, const rkb_device_t *device, rkb_text_t *out);
/* Writes one case's buffers and launches, each launch with its occupancy. */
void rkb_plan_report(const rkb_plan_t *plan, const rkb_build_t *build, const rkb_device_t *device,
                     const char *case_name, rkb_text_t *out);
/* Writes "reason: message", preceded by FILE:line:column when the finding has a place. */
void rkb_finding_report(const rkb_finding_t *finding, const char *file, rkb_text_t *out);
/* If a build's cost says near_limit, writes a sentence that other machines may not reproduce the build. */
void rkb_build_cost_report(const rkb_build_cost_t *cost, rkb_text_t *out);

#endif
