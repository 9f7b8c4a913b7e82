/* What `rkb build` prints.  Any thread. */
#ifndef RKB_KERNEL_BUILD_REPORT_H
#define RKB_KERNEL_BUILD_REPORT_H

#include "kernel/kernel.h"
#include "base/text.h"

/* Kernels with registers, spills, memory and parameters; hashes; warnings. */
void rkb_build_report(const rkb_build_t *build, const rkb_device_t *device, rkb_text_t *out);
/* One case's buffers and launches, each launch with its occupancy. */
void rkb_plan_report(const rkb_plan_t *plan, const rkb_build_t *build, const rkb_device_t *device,
                     const char *case_name, rkb_text_t *out);
/* "reason: message" with FILE:line:column before it when it has a place. */
void rkb_finding_report(const rkb_finding_t *finding, const char *file, rkb_text_t *out);
/* One sentence on a build that near_limit says is not reproducible on every machine. */
void rkb_build_cost_report(const rkb_build_cost_t *cost, rkb_text_t *out);

#endif
