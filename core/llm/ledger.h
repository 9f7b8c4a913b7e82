/* The budget of a run: what was charged and what is reserved, against limits.cost_usd.  A reservation is committed to the archive,
 * on disk, before its question is sent.  Charges plus reservations never exceed the limit.  Any thread except the loop's, because a
 * reservation waits for the disk. */
#ifndef RKB_LLM_LEDGER_H
#define RKB_LLM_LEDGER_H

#include "archive/archive.h"
#include "llm/rate_limits.h"

typedef struct rkb_ledger rkb_ledger_t;

/* Opens a ledger.  limit: USD; negative: no limit.  Charges the reservations that an earlier process never ended. */
int rkb_ledger_open(rkb_archive_t *archive, double limit, rkb_ledger_t **ledger, rkb_error_t *err);
void rkb_ledger_close(rkb_ledger_t *ledger);

/* Finds a stored reply to a question.  If the asker has not asked this question before, its draw is reserved for the asker, so that
 * no other asker gets the same draw.  Without an archive there are no stored replies, and the ledger counts the draws itself. */
int rkb_ledger_find(rkb_ledger_t *ledger, const rkb_call_record_t *call, rkb_call_found_t *found,
                    rkb_error_t *err);

enum rkb_ledger_answer {
   RKB_LEDGER_RESERVED = 1,
   /* The charges so far and the cost of this question exceed the limit, so it will never fit. */
   RKB_LEDGER_OVER,
   RKB_LEDGER_GIVEN_UP /* give_up returned true during the wait */
};

/* Reserves call->reserved_usd.  *answer is an enum rkb_ledger_answer; only the first one stores anything.  A
 * question that does not fit beside the reservations of others waits, in order of arrival, until they end,
 * because most cost less than they reserved.  During the wait give_up is called about 20 times a second.  A
 * question that costs nothing never waits and needs no give_up.  *id identifies the reservation. */
int rkb_ledger_reserve(rkb_ledger_t *ledger, const rkb_call_record_t *call, rkb_give_up_t give_up, void *argument, uint32_t *answer,
                       int64_t *id, rkb_error_t *err);
/* Replaces the reservation by the actual charge. */
int rkb_ledger_finish(rkb_ledger_t *ledger, int64_t id, const rkb_call_record_t *call, rkb_error_t *err);
/* The USD that were charged, and the USD that are reserved. */
void rkb_ledger_state(rkb_ledger_t *ledger, double *charged, double *reserved);

#endif
