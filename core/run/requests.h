/* Adds requests to the row: those of the propose section at the start, those of the search as the strategy asks for
 * them.  Loop thread. */
#ifndef RKB_RUN_REQUESTS_H
#define RKB_RUN_REQUESTS_H

#include <stdbool.h>

struct rkb_run;

/* Puts the propose section into the row and starts to serve it. */
void rkb_requests_propose(struct rkb_run *run);
/* Asks the strategy once, when the window reaches that far; true when it did something. */
bool rkb_requests_ask_next(struct rkb_run *run);

#endif
