/* Counts broken contracts (contracts.h).  Loop thread. */
#include "run/contracts.h"

#include <string.h>
#include "run/run_state.h"

/* A stage fails the run after this many broken contracts if it kept the contract on no candidate before.  That many cannot be
 * blamed on a few unusual candidates. */
enum { MOST_BROKEN = 8 };

void rkb_contracts_note(rkb_run_t *run, const rkb_entry_t *entry, const char *reason, const char *message) {
   rkb_contracts_t *contracts = &run->contracts;
   if (strcmp(reason, "tool.contract") != 0)
      contracts->kept[entry->index] = true;
   else if (!contracts->kept[entry->index] && ++contracts->broken[entry->index] == MOST_BROKEN)
      rkb_run_break(run, RKB_ERR_CONTRACT,
                    "%s (%s) broke the contract on each of its first %d candidates; the last one: %.300s",
                    entry->node.id, entry->node.use, MOST_BROKEN, message);
}
