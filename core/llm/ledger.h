/* The money of a run: what was charged and what may still be, against limits.cost_usd.  A reservation is
 * committed to the archive, and on the disk, before its question is sent; the sum of charges and reservations
 * never passes the limit. Any thread but the loop's: a reservation waits for the disk. */
#ifndef RKB_LLM_LEDGER_H
#define RKB_LLM_LEDGER_H

#include "archive/archive.h"

typedef struct rkb_ledger rkb_ledger_t;

/* limit: USD, negative for none.  Charges what an earlier process reserved and never ended. */
int rkb_ledger_open(rkb_archive_t *archive, double limit, rkb_ledger_t **ledger, rkb_error_t *err);
void rkb_ledger_close(rkb_ledger_t *ledger);

/* Finds what is known of a question and, when its asker has not asked it yet, keeps its draw from being given
 * to another one.  Without an archive nothing is ever known, and draws are counted here. */
int rkb_ledger_find(rkb_ledger_t *ledger, const rkb_call_record_t *call, rkb_call_found_t *found,
                    rkb_error_t *err);

/* Reserves call->reserved_usd.  *fits false, with RKB_OK: it would pass the limit, and nothing was stored.
 * *id names it. */
int rkb_ledger_reserve(rkb_ledger_t *ledger, const rkb_call_record_t *call, bool *fits, int64_t *id,
                       rkb_error_t *err);
/* Replaces the reservation by what was charged. */
int rkb_ledger_finish(rkb_ledger_t *ledger, int64_t id, const rkb_call_record_t *call, rkb_error_t *err);
double rkb_ledger_spent(rkb_ledger_t *ledger); /* reservations included */

#endif
