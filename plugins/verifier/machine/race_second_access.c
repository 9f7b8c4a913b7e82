/* Finds the line of a race's second access.  Records of races name the other thread and have no room for its line, so a run that is rejected for a race is
 * executed once more, and keeps the lines too (core/machine/clocks/second_access.h).  Only rejected kernels pay for this.  One worker thread a case. */
#include "case_trial.h"

#include <stdlib.h>
#include <string.h>

/* The finding of the second execution that is this one of the first; NULL: there is none. */
static const rkb_machine_finding_t *same_finding(const rkb_machine_report_t *report,
                                                 const rkb_machine_finding_t *first) {
   for (uint32_t n = 0; n < report->finding_count; n++) {
      const rkb_machine_finding_t *second = &report->findings[n];
      if (second->launch == first->launch && second->ptx_line == first->ptx_line &&
          second->standing == first->standing && strcmp(second->reason, first->reason) == 0)
         return second;
   }
   return NULL;
}

int trial_take_with_second_accesses(struct trial *t, rkb_error_t *err) {
   rkb_machine_report_t report;
   rkb_machine_report(t->machine, &report);
   const uint32_t count = report.finding_count;
   rkb_machine_finding_t *first =
      t->outcome->rank < RKB_MACHINE_REJECT && rkb_machine_seek_second_access(t->machine)
         ? malloc(count * sizeof *first)
         : NULL;
   if (!first) {
      trial_take_findings(t);
      return RKB_OK;
   }
   memcpy(first, report.findings, count * sizeof *first);
   int status = trial_fill(t, t->buffers, err);
   if (status == RKB_OK)
      status = rkb_machine_run(t->machine, t->buffers, err);
   rkb_machine_report(t->machine, &report);
   for (uint32_t n = 0; status == RKB_OK && n < count; n++) {
      const rkb_machine_finding_t *second = same_finding(&report, &first[n]);
      first[n] = second && second->other_line ? *second : first[n];
   }
   if (status == RKB_OK || status == RKB_ERR_LIMIT) /* the records that it keeps need more memory */
      trial_take(t, first, count);
   free(first);
   return status == RKB_ERR_LIMIT ? RKB_OK : status;
}
