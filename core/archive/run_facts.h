/* What must be the same for a run to be resumed. */
#ifndef RKB_ARCHIVE_RUN_FACTS_H
#define RKB_ARCHIVE_RUN_FACTS_H

#include "archive/archive_internal.h"

/* Inside a transaction. */
int rkb_identity_store(rkb_connection_t *writer, const rkb_run_identity_t *identity, rkb_error_t *err);
/* Whether one was stored: a run killed while it made its archive has none yet, and nothing else either. */
int rkb_identity_present(rkb_connection_t *connection, bool *present, rkb_error_t *err);
/* RKB_ERR_INVALID names the first difference. */
int rkb_identity_compare(rkb_connection_t *connection, const rkb_run_identity_t *identity, rkb_error_t *err);

#endif
