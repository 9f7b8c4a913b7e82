/* Writing findings: one sentence against the candidate, with its reason code and its place in the .cu.  Any
 * thread. */
#ifndef RKB_KERNEL_CANDIDATE_FINDING_H
#define RKB_KERNEL_CANDIDATE_FINDING_H

#include <rkb/ext/kernel.h>
#include "base/problems.h"

void rkb_finding_clear(rkb_finding_t *finding);
/* Keeps the first finding: if it already has a reason, the call changes nothing. */
void rkb_finding_set(rkb_finding_t *finding, const char *reason, uint32_t line, uint32_t column,
                     const char *fmt, ...) RKB_PRINTF(5, 6);
/* Makes a finding from the first problem of a file.  If its message has the form "code: text" with a plan.* code, this code is the reason; otherwise the
 * reason is plan.manifest. */
void rkb_finding_from_problems(rkb_finding_t *finding, const rkb_problems_t *problems);

#endif
