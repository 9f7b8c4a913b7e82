/* The identity of a run: a run is resumed only if it is the same. */
#ifndef RKB_ARCHIVE_RUN_IDENTITY_H
#define RKB_ARCHIVE_RUN_IDENTITY_H

#include "archive/archive_internal.h"

/* Call it inside a transaction. */
int rkb_identity_store(rkb_connection_t *writer, const rkb_run_identity_t *identity, rkb_error_t *err);
/* Whether an identity is stored.  A run that was killed while it made its archive has neither an identity nor anything else. */
int rkb_identity_present(rkb_connection_t *connection, bool *present, rkb_error_t *err);
/* Compares with the stored identity.  RKB_ERR_INVALID names the first difference. */
int rkb_identity_compare(rkb_connection_t *connection, const rkb_run_identity_t *identity, rkb_error_t *err);

#endif
