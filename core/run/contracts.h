/* Finds stages that break the plugin interface's contract on every candidate.  Such a stage gives no usable answer, so the run
 * fails and names the stage, instead of going on without a verdict.  Loop thread. */
#ifndef RKB_RUN_CONTRACTS_H
#define RKB_RUN_CONTRACTS_H

#include <stdbool.h>
#include "pipeline/pipeline_parts.h"

struct rkb_run;

typedef struct rkb_contracts {
   uint32_t broken[RKB_MAX_ENTRIES]; /* candidates before the entry first kept the contract */
   bool kept[RKB_MAX_ENTRIES];
} rkb_contracts_t;

/* An entry has ended for a candidate.  reason and message: of its verdict, "" when it has none. */
void rkb_contracts_note(struct rkb_run *run, const rkb_entry_t *entry, const char *reason,
                        const char *message);

#endif
