/* Slot "errors": the reasons of rejections so far, with their counts (context.h). */
#include <string.h>
#include "context.h"

#define MOST_REASONS 12
#define MOST_MESSAGE 240 /* bytes of the newest message of a reason */

typedef struct reason {
   const rkb_archive_row_t *newest;
   uint32_t count;
} reason_t;

static uint32_t count_reasons(const context_t *context, reason_t *reasons, uint32_t *rejected) {
   const rkb_archive_api_t *archive = context->services->archive;
   uint32_t found = 0;
   for (uint32_t i = 0; i < archive->rows_count(context->rows); i++) {
      const rkb_archive_row_t *row = archive->rows_at(context->rows, i);
      uint32_t at = 0;
      if (strcmp(row->standing, RKB_REJECT) != 0)
         continue;
      (*rejected)++;
      while (at < found && strcmp(reasons[at].newest->reason, row->reason) != 0)
         at++;
      if (at == MOST_REASONS)
         continue;
      found += at == found;
      reasons[at].newest = row;
      reasons[at].count++;
   }
   return found;
}

void context_add_errors(context_t *context) {
   reason_t reasons[MOST_REASONS] = {{0}};
   uint32_t rejected = 0;
   if (!context->services->archive || !context->rows)
      return;
   const uint32_t found = count_reasons(context, reasons, &rejected);
   if (rejected < 2) /* a single one is shown whole, among the verdicts */
      return;
   context_add(context, "errors", context_format(context, "Of all kernels so far %u were rejected, by reason, each with the newest message:", rejected), NULL,
               MOST_REASONS + 1, false);
   /* Shows the most frequent first; of equal ones the one that came first. */
   for (uint32_t shown = 0; shown < found; shown++) {
      uint32_t most = 0;
      for (uint32_t i = 1; i < found; i++)
         if (reasons[i].count > reasons[most].count)
            most = i;
      const rkb_archive_row_t *row = reasons[most].newest;
      context_add(context, "errors", context_format(context, "%u times %s: %.*s", reasons[most].count, row->reason, MOST_MESSAGE, row->message),
                  context_format(context, "rejections %u", shown + 1), (int32_t)(MOST_REASONS - shown), true);
      reasons[most].count = 0;
   }
}
