/* The rows of finished requests in memory, so that queries of the process that writes the archive do not read them from the file again.
 * Rows are added in the order of their requests, never change and never move; a query gets pointers to them.  What a query may see is a
 * bound on the request, as in the file.  [any]: a mutex guards what is added; rows that were handed out are read without it. */
#ifndef RKB_ARCHIVE_SHARED_ROWS_H
#define RKB_ARCHIVE_SHARED_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <rkb/ext/archive.h>
#include "base/arena.h"

typedef struct rkb_shared_rows rkb_shared_rows_t;

/* bytes: the most that the rows may take; what comes later is read from the file. */
rkb_shared_rows_t *rkb_shared_rows_new(size_t bytes);
/* No row that was handed out may be used afterwards.  NULL is accepted. */
void rkb_shared_rows_free(rkb_shared_rows_t *shared);

/* Adding.  begin takes the mutex and gives the last request whose rows are here; false, without the mutex: those up to horizon are here,
 * or no more may come.  end gives it back: rows up to last are here now; what was added after a failure is dropped. */
bool rkb_shared_rows_begin(rkb_shared_rows_t *shared, int64_t horizon, int64_t *last);
rkb_arena_t *
rkb_shared_rows_arena(rkb_shared_rows_t *shared); /* for the texts of the next row; rkb_arena_try alone */
/* The text that an earlier row has with this hash, or NULL. */
const char *rkb_shared_rows_source(const rkb_shared_rows_t *shared, const char *source_hash);
/* False: memory or the row's place in the order does not allow it; end with a failure then. */
bool rkb_shared_rows_add(rkb_shared_rows_t *shared, int64_t request, const rkb_archive_row_t *row);
void rkb_shared_rows_end(rkb_shared_rows_t *shared, bool ok, int64_t last);

/* What a query finds among the rows up to horizon: *list is malloc'd, the rows are not.  False: not all that it may see is here, or it asks for
 * what is not kept (parents). */
bool rkb_shared_rows_find(rkb_shared_rows_t *shared, int64_t horizon, const rkb_archive_query_t *query,
                          const rkb_archive_row_t ***list, uint32_t *count);

/* A request up to which rows are here was written to, which no run does: from now on every query reads the file. */
void rkb_shared_rows_request_changed(rkb_shared_rows_t *shared, int64_t request);
void rkb_shared_rows_candidate_changed(rkb_shared_rows_t *shared, int64_t candidate);

#endif
