/* Findings against a candidate.  They are data, not failures of the program.  Owns nothing; any thread. */
#include "kernel/candidate_finding.h"

#include <string.h>

void rkb_finding_clear(rkb_finding_t *finding) {
   memset(finding, 0, sizeof *finding);
}

void rkb_finding_set(rkb_finding_t *finding, const char *reason, uint32_t line, uint32_t column,
                     const char *fmt, ...) {
   va_list ap;
   if (finding->reason[0])
      return;
   snprintf(finding->reason, sizeof finding->reason, "%s", reason);
   va_start(ap, fmt);
   vsnprintf(finding->message, sizeof finding->message, fmt, ap);
   va_end(ap);
   finding->line = line;
   finding->column = column;
}

void rkb_finding_from_problems(rkb_finding_t *finding, const rkb_problems_t *problems) {
   const rkb_problem_t *first = NULL;
   char reason[48] = "plan.manifest";
   const char *message, *colon;
   for (uint32_t i = 0; i < problems->count; i++) {
      const rkb_problem_t *p = &problems->list[i];
      if (!p->warning &&
          (!first || p->line < first->line || (p->line == first->line && p->column < first->column)))
         first = p;
   }
   if (!first) {
      rkb_finding_set(finding, reason, 0, 0, "the manifest cannot be read");
      return;
   }
   message = first->message;
   colon = strchr(message, ':');
   if (strncmp(message, "plan.", 5) == 0 && colon && (size_t)(colon - message) < sizeof reason) {
      memcpy(reason, message, (size_t)(colon - message));
      reason[colon - message] = '\0';
      message = colon + 1 + (colon[1] == ' ');
   }
   rkb_finding_set(finding, reason, first->line, first->column, "%s", message);
}
