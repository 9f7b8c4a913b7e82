/* Chooses the kernels of a request and fills the prompt's slots with them (mutator_context.h). */
#include "mutator_context.h"

#include <string.h>
#include "asking/lessons.h"

/* Finds a rejected kernel to fix: the newest visible one after `skip` newer ones.  of_models: only kernels
 * that a model wrote.  Strategies give only accepted parents, so the operator `fix` searches for a rejected
 * kernel itself, within the window. */
static const rkb_archive_row_t *newest_rejected(const context_t *context, bool of_models, uint64_t skip) {
   const rkb_archive_api_t *archive = context->services->archive;
   uint32_t rows = archive && context->rows ? archive->rows_count(context->rows) : 0;
   const rkb_archive_row_t *found = NULL;
   uint64_t count = 0;
   for (uint32_t i = rows; i-- > 0 && !found;) {
      const rkb_archive_row_t *row = archive->rows_at(context->rows, i);
      bool kernel = strstr(row->source, "rkb-kernel:") && strstr(row->source, "__global__");
      if (of_models && (!row->note || strncmp(row->note, "model ", 6) != 0))
         continue;
      if (strcmp(row->standing, RKB_REJECT) == 0 && kernel && count++ == skip)
         found = row;
   }
   return found;
}

/* Fills the slots "kernel" and "findings" of one broken kernel.  Returns its source, or NULL when there is no
 * kernel to fix. */
static const char *add_broken(const mutator_t *me, context_t *context, const rkb_item_t *in) {
   uint32_t parents = me->host->item_reference_count(me->host, in, "parent");
   for (uint32_t i = 0; i < parents; i++) {
      const rkb_item_t *parent = me->host->item_reference(me->host, in, "parent", i);
      const char *standing = me->host->item_text(me->host, parent, "standing");
      if (!standing || strcmp(standing, RKB_ACCEPT) == 0)
         continue;
      context_add_candidate(context, "kernel", parent, 0);
      context_add_findings(context, "findings", parent);
      return me->host->item_text(me->host, parent, "source");
   }
   int64_t number = 0;
   me->host->item_int(me->host, in, "number", &number);
   const bool of_models = strcmp(me->config->rejects, "models") == 0;
   const rkb_archive_row_t *row = newest_rejected(context, of_models, (uint64_t)number % 4);
   if (!row)
      row = newest_rejected(context, of_models, 0);
   if (!row)
      return NULL;
   const char *label = context_format(context, "candidate %lld, tune %s", (long long)row->number, row->tune);
   context_add(context, "kernel", row->source, label, 0, true);
   context_add(context, "findings",
               context_format(context, "%s: %s%s%s", row->reason, row->message,
                              row->evidence ? "\nevidence: " : "", row->evidence ? row->evidence : ""),
               label, 0, true);
   return row->source;
}

bool mutator_context_fill(const mutator_t *me, context_t *context, const rkb_item_t *in,
                          const char **edited) {
   const rkb_host_t *host = me->host;
   const char *objective = host->item_text(host, in, "objective");
   uint32_t parents = host->item_reference_count(host, in, "parent");
   *edited = NULL;
   context->profile = context_profile_named(me->config->profile);
   context->objective = objective;
   context_add_task(context);
   context_add_contract(context);
   context_add_device(context);
   context_add_hints(context);
   if (me->config->scratchpad)
      lessons_add(context);
   context_add_errors(context);
   if (me->mode == FIX) {
      *edited = add_broken(me, context, in);
      return *edited != NULL;
   }
   if (!parents || (me->mode == CROSSOVER && parents < 2))
      return false;
   uint32_t shown = me->mode == CROSSOVER ? parents : 1;
   for (uint32_t i = 0; i < shown; i++) {
      const rkb_item_t *parent = host->item_reference(host, in, "parent", i);
      context_add_candidate(context, "kernel", parent, (int32_t)(shown - i));
      context_add_findings(context, "findings", parent);
      context_add_siblings(context, parent, (uint32_t)me->config->siblings);
   }
   if (me->mode == IMPROVE)
      *edited = host->item_text(host, host->item_reference(host, in, "parent", 0), "source");
   context_add_best(context, objective, (uint32_t)me->config->best);
   context_add_verdicts(context, (uint32_t)me->config->verdicts);
   if (me->mode != CROSSOVER)
      context_add_library(context, host->item_reference(host, in, "parent", 0),
                          (uint32_t)me->config->library);
   return true;
}

uint32_t mutator_context_parents(const mutator_t *me, const rkb_item_t *in, const char *edited,
                                 const rkb_item_t **parents) {
   uint32_t count = me->host->item_reference_count(me->host, in, "parent"), kept = 0;
   for (uint32_t i = 0; i < count && i < 8; i++) {
      const rkb_item_t *parent = me->host->item_reference(me->host, in, "parent", i);
      const char *source = me->host->item_text(me->host, parent, "source");
      bool shown = me->mode == CROSSOVER ||
                   (me->mode == FIX ? source && edited && strcmp(source, edited) == 0 : i == 0);
      if (shown)
         parents[kept++] = parent;
   }
   return kept;
}
