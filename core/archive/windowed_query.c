/* The reads of <rkb/ext/archive.h>.  A horizon is the last search request that may be seen.  The keys of propose requests are negative,
 * so they are below every horizon.  [any] */
#include "archive/statement_rows.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

#define ROWS_LIMIT ((size_t)1 << 30) /* bytes: 4,096 rows of the largest source */
enum { MAX_ROWS = 4096 };

struct rkb_archive_rows {
   const rkb_archive_row_t **list; /* shared with other queries, or own */
   uint32_t count;
   rkb_keeper_t keeper; /* memory of the rows that were read for this query alone; no arena when none were */
   rkb_archive_row_t *own;
};

/* source: a copy of the row's source text that is already in memory, or NULL. */
static int keep_row(rkb_keeper_t *keeper, const rkb_statement_t *statement, const char *source,
                    rkb_archive_row_t *row, rkb_error_t *err) {
   *row = (rkb_archive_row_t){
      .number = rkb_column_int(statement, 0),
      .source = source ? source : rkb_keep_word(keeper, statement, 1),
      .source_hash = rkb_keep_word(keeper, statement, 2),
      .tune = rkb_keep_word(keeper, statement, 3),
      .operator_id = rkb_keep_word(keeper, statement, 4),
      .note = rkb_keep_word(keeper, statement, 5),
      .standing = rkb_keep_word(keeper, statement, 6),
      .reason = rkb_keep_word(keeper, statement, 7),
      .message = rkb_keep_word(keeper, statement, 8),
      .evidence = rkb_keep_text(keeper, statement, 9),
      .has_objective = !rkb_column_null(statement, 10),
      .objective = rkb_column_real(statement, 10),
   };
   return keeper->failed ? rkb_fail(err, RKB_ERR_LIMIT,
                                    "a query's rows take more than %zu bytes: ask for fewer", ROWS_LIMIT)
                         : RKB_OK;
}

static int read_rows(rkb_connection_t *reader, int64_t horizon, const rkb_archive_query_t *query,
                     rkb_archive_rows_t *rows, rkb_error_t *err) {
   int row, status = RKB_OK;
   rkb_statement_t statement =
      rkb_statement_begin(reader, query->order == RKB_ARCHIVE_BY_OBJECTIVE ? RKB_SQL_GET_ROWS_BY_OBJECTIVE
                                                                           : RKB_SQL_GET_ROWS_BY_NUMBER);
   rkb_bind_int(&statement, horizon);
   rkb_bind_text(&statement, query->source_hash);
   rkb_bind_text(&statement, query->operator_id);
   rkb_bind_text(&statement, query->standing);
   rkb_bind_int(&statement, query->limit);
   rkb_bind_int(&statement, query->parent);
   for (row = rkb_statement_row(&statement, err); row == 1; row = rkb_statement_row(&statement, err)) {
      status = keep_row(&rows->keeper, &statement, NULL, &rows->own[rows->count], err);
      if (status != RKB_OK)
         break;
      rows->list[rows->count] = &rows->own[rows->count];
      rows->count++;
   }
   rkb_statement_reset(&statement);
   return row < 0 ? row : status;
}

/* Reads the rows of a query from the file, for this query alone. */
static int read_own(rkb_connection_t *reader, int64_t horizon, const rkb_archive_query_t *query,
                    rkb_archive_rows_t *rows, rkb_error_t *err) {
   rows->keeper.arena = rkb_arena_new(ROWS_LIMIT);
   rows->own = rkb_arena_try(rows->keeper.arena, query->limit, sizeof *rows->own);
   if (!rows->own)
      return rkb_arena_fail(rows->keeper.arena, "the answer", err);
   rows->list = rkb_allocate(query->limit, sizeof *rows->list);
   return read_rows(reader, horizon, query, rows, err);
}

/* The last request, at most horizon, such that it and all requests after `first` are finished. */
static int last_finished(rkb_connection_t *reader, int64_t first, int64_t horizon, int64_t *last,
                         rkb_error_t *err) {
   rkb_statement_t statement = rkb_statement_begin(reader, RKB_SQL_GET_LAST_FINISHED);
   rkb_bind_int(&statement, first);
   const int row = rkb_statement_row(&statement, err);
   *last = row == 1 && !rkb_column_null(&statement, 0) ? rkb_column_int(&statement, 0) : first;
   rkb_statement_reset(&statement);
   if (*last > horizon)
      *last = horizon;
   return row < 0 ? row : RKB_OK;
}

static int add_rows(rkb_connection_t *reader, rkb_shared_rows_t *shared, int64_t first, int64_t last,
                    rkb_error_t *err) {
   rkb_keeper_t keeper = {.arena = rkb_shared_rows_arena(shared)};
   rkb_archive_row_t filled;
   int row, status = RKB_OK;
   rkb_statement_t statement = rkb_statement_begin(reader, RKB_SQL_GET_ROWS_BETWEEN);
   rkb_bind_int(&statement, last);
   rkb_bind_int(&statement, first);
   for (row = rkb_statement_row(&statement, err); row == 1; row = rkb_statement_row(&statement, err)) {
      const char *known = rkb_shared_rows_source(shared, rkb_column_text(&statement, 2));
      status = keep_row(&keeper, &statement, known, &filled, err);
      if (status == RKB_OK && !rkb_shared_rows_add(shared, rkb_column_int(&statement, 11), &filled))
         status = rkb_fail(err, RKB_ERR_LIMIT, "the rows cannot be kept in memory");
      if (status != RKB_OK)
         break;
   }
   rkb_statement_reset(&statement);
   return row < 0 ? row : status;
}

/* Adds the rows that are new up to horizon to the rows in memory.  If that fails, the query still succeeds:
 * it reads the file itself. */
static void share_rows(rkb_connection_t *reader, rkb_shared_rows_t *shared, int64_t horizon) {
   rkb_error_t ignored;
   int64_t first, last;
   if (!rkb_shared_rows_begin(shared, horizon, &first))
      return;
   int status = last_finished(reader, first, horizon, &last, &ignored);
   if (status == RKB_OK && last > first)
      status = add_rows(reader, shared, first, last, &ignored);
   rkb_shared_rows_end(shared, status == RKB_OK, last);
}

static int check_query(const rkb_archive_query_t *query, rkb_error_t *err) {
   if (query->size < sizeof *query)
      return rkb_fail(err, RKB_ERR_CONTRACT, "an archive query must begin with its size");
   if (query->order > RKB_ARCHIVE_BY_OBJECTIVE)
      return rkb_fail(err, RKB_ERR_INVALID, "an archive query has no order %u", query->order);
   if (query->limit < 1 || query->limit > MAX_ROWS)
      return rkb_fail(err, RKB_ERR_INVALID, "an archive query takes a limit of 1 to %d rows, not %u",
                      MAX_ROWS, query->limit);
   return RKB_OK;
}

int rkb_archive_query(rkb_archive_t *archive, int64_t horizon, const rkb_archive_query_t *query,
                      rkb_archive_rows_t **rows, rkb_error_t *err) {
   rkb_connection_t *reader;
   const int64_t seen = horizon < -1 ? -1 : horizon;
   int status = check_query(query, err);
   if (status != RKB_OK)
      return status;
   rkb_archive_rows_t *filled = rkb_allocate(1, sizeof *filled);
   if (archive->shared && rkb_shared_rows_find(archive->shared, seen, query, &filled->list, &filled->count)) {
      *rows = filled;
      return RKB_OK;
   }
   status = rkb_archive_take_reader(archive, &reader, err);
   if (status == RKB_OK) {
      if (archive->shared)
         share_rows(reader, archive->shared, seen);
      if (!archive->shared ||
          !rkb_shared_rows_find(archive->shared, seen, query, &filled->list, &filled->count))
         status = read_own(reader, seen, query, filled, err);
      rkb_archive_give_reader(archive, reader);
   }
   if (status != RKB_OK) {
      rkb_archive_rows_free(filled);
      return status;
   }
   *rows = filled;
   return RKB_OK;
}

uint32_t rkb_archive_rows_count(const rkb_archive_rows_t *rows) {
   return rows->count;
}

const rkb_archive_row_t *rkb_archive_rows_at(const rkb_archive_rows_t *rows, uint32_t index) {
   return index < rows->count ? rows->list[index] : NULL;
}

void rkb_archive_rows_free(rkb_archive_rows_t *rows) {
   if (!rows)
      return;
   rkb_arena_free(rows->keeper.arena);
   free(rows->list);
   free(rows);
}

int rkb_archive_measurement(rkb_archive_t *archive, int64_t horizon, int64_t candidate, const char *name,
                            bool *found, double *value, char *detail, size_t detail_size, rkb_error_t *err) {
   rkb_connection_t *reader;
   int row, status = rkb_archive_take_reader(archive, &reader, err);
   *found = false;
   if (status != RKB_OK)
      return status;
   rkb_statement_t statement = rkb_statement_begin(reader, RKB_SQL_GET_MEASUREMENT);
   rkb_bind_int(&statement, candidate);
   rkb_bind_text(&statement, name);
   rkb_bind_int(&statement, horizon < -1 ? -1 : horizon);
   row = rkb_statement_row(&statement, err);
   if (row == 1) {
      const char *text = rkb_column_text(&statement, 1);
      *found = true;
      *value = rkb_column_real(&statement, 0);
      if (detail && detail_size > 0)
         snprintf(detail, detail_size, "%s", text ? text : "");
   }
   rkb_statement_reset(&statement);
   rkb_archive_give_reader(archive, reader);
   return row < 0 ? row : RKB_OK;
}

struct rkb_archive_measured_list {
   rkb_keeper_t keeper;
   const void *list; /* of rkb_archive_measured_t */
   uint32_t count;
};

static void keep_measured(rkb_keeper_t *keeper, const rkb_statement_t *statement, void *entry) {
   const char *case_name = rkb_keep_word(keeper, statement, 1);
   *(rkb_archive_measured_t *)entry = (rkb_archive_measured_t){.name = rkb_keep_word(keeper, statement, 0),
                                                               .case_name = case_name[0] ? case_name : NULL,
                                                               .unit = rkb_keep_word(keeper, statement, 2),
                                                               .better = rkb_keep_word(keeper, statement, 3),
                                                               .method = rkb_keep_word(keeper, statement, 4),
                                                               .detail = rkb_keep_text(keeper, statement, 5),
                                                               .value = rkb_column_real(statement, 6)};
}

int rkb_archive_measured(rkb_archive_t *archive, int64_t horizon, int64_t candidate,
                         rkb_archive_measured_list_t **list, rkb_error_t *err) {
   rkb_connection_t *reader;
   int status = rkb_archive_take_reader(archive, &reader, err);
   if (status != RKB_OK)
      return status;
   rkb_archive_measured_list_t *filled = rkb_allocate(1, sizeof *filled);
   filled->keeper.arena = rkb_arena_new(RKB_RECORD_LIMIT);
   rkb_statement_t statement = rkb_statement_begin(reader, RKB_SQL_GET_MEASURED);
   rkb_bind_int(&statement, candidate);
   rkb_bind_int(&statement, horizon < -1 ? -1 : horizon);
   status = rkb_rows_list(&statement, &filled->keeper, sizeof(rkb_archive_measured_t), keep_measured,
                          &filled->list, &filled->count, err);
   rkb_archive_give_reader(archive, reader);
   if (status != RKB_OK) {
      rkb_archive_measured_free(filled);
      return status;
   }
   *list = filled;
   return RKB_OK;
}

uint32_t rkb_archive_measured_count(const rkb_archive_measured_list_t *list) {
   return list->count;
}

const rkb_archive_measured_t *rkb_archive_measured_at(const rkb_archive_measured_list_t *list,
                                                      uint32_t index) {
   return index < list->count ? (const rkb_archive_measured_t *)list->list + index : NULL;
}

void rkb_archive_measured_free(rkb_archive_measured_list_t *list) {
   if (!list)
      return;
   rkb_arena_free(list->keeper.arena);
   free(list);
}
