/* The run's search strategy: its one instance, and the calls to it.  Loop thread. */
#ifndef RKB_RUN_SEARCH_H
#define RKB_RUN_SEARCH_H

#include "stage/instance.h"
#include "run/request_row.h"

struct rkb_run;

typedef struct rkb_search {
   rkb_owner_t owner; /* the host that the strategy sees */
   rkb_setup_t setup;
   void *self;     /* NULL when the pipeline has no search */
   uint32_t waits; /* answers RKB_ASK_WAIT in a row */
} rkb_search_t;

/* Creates the strategy, if the pipeline has one. */
int rkb_search_open(struct rkb_run *run, rkb_error_t *err);
void rkb_search_close(struct rkb_run *run);
/* Asks the strategy and fills the request with its answer.  False, with the run broken, when it failed or broke the
 * contract. */
bool rkb_search_ask(struct rkb_run *run, rkb_run_request_t *request);
/* Tells the strategy.  False, with the run broken, when it failed. */
bool rkb_search_tell(struct rkb_run *run, const rkb_result_t *result);

#endif
