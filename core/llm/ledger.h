/* The budget of a run: what was charged and what is reserved, against limits.cost_usd.  A reservation is committed to the archive,
 * on disk, before its question is sent.  Charges plus reservations never exceed the limit.  Any thread except the loop's, because a
 * reservation waits for the disk. */
#ifndef RKB_LLM_LEDGER_H
#define RKB_LLM_LEDGER_H

#include "archive/archive.h"

typedef struct rkb_ledger rkb_ledger_t;

/* Opens a ledger.  limit: USD; negative: no limit.  Charges the reservations that an earlier process never ended. */
int rkb_ledger_open(rkb_archive_t *archive, double limit, rkb_ledger_t **ledger, rkb_error_t *err);
void rkb_ledger_close(rkb_ledger_t *ledger);

/* Finds what is known of a question.  If its asker has not asked it yet, promises the question's draw to it, so that no other asker
 * gets that draw.  Without an archive nothing is known, and the ledger itself counts draws. */
int rkb_ledger_find(rkb_ledger_t *ledger, const rkb_call_record_t *call, rkb_call_found_t *found,
                    rkb_error_t *err);

/* Reserves call->reserved_usd.  *fits is false, with RKB_OK, when this would exceed the limit; nothing is stored then.  *id identifies
 * the reservation. */
int rkb_ledger_reserve(rkb_ledger_t *ledger, const rkb_call_record_t *call, bool *fits, int64_t *id,
                       rkb_error_t *err);
/* Replaces the reservation by the actual charge. */
int rkb_ledger_finish(rkb_ledger_t *ledger, int64_t id, const rkb_call_record_t *call, rkb_error_t *err);
double rkb_ledger_spent(rkb_ledger_t *ledger); /* reservations included */

#endif
