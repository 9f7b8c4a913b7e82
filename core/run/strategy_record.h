/* The asks and tells of the strategy, as hashes in order.  Loop thread. */
#ifndef RKB_RUN_STRATEGY_RECORD_H
#define RKB_RUN_STRATEGY_RECORD_H

#include "run/request_row.h"

struct rkb_run;
struct rkb_replay;

int rkb_strategy_record_open(struct rkb_run *run, rkb_error_t *err);
void rkb_strategy_record_close(struct rkb_run *run);
/* Compares this step with the one recorded at the same place, or records it when there is none.  At the first difference
 * the run breaks and the answer is false. */
bool rkb_strategy_record_ask(struct rkb_run *run, const rkb_run_request_t *request);
bool rkb_strategy_record_tell(struct rkb_run *run, const rkb_run_request_t *request, const rkb_result_t *result);
/* Stores the last tell if no ask was stored in the same transaction. */
bool rkb_strategy_record_flush(struct rkb_run *run);

#endif
