/* Kernels of earlier runs as a prompt shows them (context.h).  Anybody may have written their files, so the
 * texts are fenced. */
#include "context.h"

#define MOST_SHOWN 16

static const char HEADING[] = "Kernels that earlier runs accepted, for this task or for tasks with the same operations, the nearest first. Each has "
                              "the manifest of its own task:";

void context_add_library(context_t *context, const rkb_item_t *parent, uint32_t count) {
   const rkb_library_api_t *library = context->services->library;
   rkb_library_row_t rows[MOST_SHOWN];
   int64_t candidate = 0;
   if (!library || !count)
      return;
   if (parent)
      context->host->item_int(context->host, parent, "number", &candidate);
   const uint32_t found = library->nearest(context->host, context->job, candidate, rows, count < MOST_SHOWN ? count : MOST_SHOWN);
   for (uint32_t i = 0; i < found; i++) {
      const rkb_library_row_t *row = &rows[i];
      if (i == 0)
         context_add(context, "library", HEADING, NULL, MOST_SHOWN + 1, false);
      const char *label = context_format(context, "elite %.12s of %s %s on %s, %s = %.6g%s%s, tune %s", row->identity, row->task, row->direction,
                                         row->device, row->objective, row->score, row->limiter[0] ? ", limited by " : "", row->limiter, row->tune);
      context_add(context, "library", row->source, label, (int32_t)(MOST_SHOWN - i), true);
   }
}
