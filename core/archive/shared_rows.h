/* The rows of finished requests in memory, so that queries of the process that writes the archive do not read them from the file again.  Rows are added in
 * the order of their requests.  They never change and never move, so a query gets pointers to them.  As for rows in the file, a query sees only the rows of
 * requests up to its horizon.  [any]: a mutex guards the addition of rows; rows that a query got are read without it. */
#ifndef RKB_ARCHIVE_SHARED_ROWS_H
#define RKB_ARCHIVE_SHARED_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <rkb/ext/archive.h>
#include "base/arena.h"

typedef struct rkb_shared_rows rkb_shared_rows_t;

/* bytes: the most memory that the rows may take; later rows are read from the file. */
rkb_shared_rows_t *rkb_shared_rows_new(size_t bytes);
/* Frees the rows; no row that a query got may be used any more.  NULL is accepted. */
void rkb_shared_rows_free(rkb_shared_rows_t *shared);

/* Add rows in three steps.  begin takes the mutex and sets *last to the last request whose rows are in memory.  It returns false, without the mutex, if
 * the rows up to horizon are in memory already, or if no more rows fit.  Then add is called for each row.  end releases the mutex; the rows up to `last` are
 * in memory now.  After a failure it drops the added rows. */
bool rkb_shared_rows_begin(rkb_shared_rows_t *shared, int64_t horizon, int64_t *last);
rkb_arena_t *
rkb_shared_rows_arena(rkb_shared_rows_t *shared); /* for the texts of the next row; rkb_arena_try alone */
/* The text that an earlier row has with this hash, or NULL. */
const char *rkb_shared_rows_source(const rkb_shared_rows_t *shared, const char *source_hash);
/* Adds a row.  False when memory is out or the row's place in the order is wrong; then call end with a
 * failure. */
bool rkb_shared_rows_add(rkb_shared_rows_t *shared, int64_t request, const rkb_archive_row_t *row);
void rkb_shared_rows_end(rkb_shared_rows_t *shared, bool ok, int64_t last);

/* Finds the rows of a query among the rows up to horizon.  *list is malloc'd, the rows are not.  False when
 * not all rows that the query may see are in memory, or when the query asks for data that is not kept
 * (parents). */
bool rkb_shared_rows_find(rkb_shared_rows_t *shared, int64_t horizon, const rkb_archive_query_t *query,
                          const rkb_archive_row_t ***list, uint32_t *count);

/* Tells that a write changed a request or candidate whose rows are in memory.  No run does that.  From then
 * on every query reads the file. */
void rkb_shared_rows_request_changed(rkb_shared_rows_t *shared, int64_t request);
void rkb_shared_rows_candidate_changed(rkb_shared_rows_t *shared, int64_t candidate);

#endif
