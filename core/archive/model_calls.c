/* Stores calls of language models with their costs, and events.  [any], under the write mutex. */
#include "archive/archive_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/memory.h"

static const char *const level_names[] = {"trace", "debug", "info", "warn", "error"};

/* Stores a text under its hash.  For a NULL text, hash stays "". */
static int put_document(rkb_connection_t *writer, const char *text, char hash[RKB_HASH_TEXT],
                        rkb_error_t *err) {
   rkb_kept_t kept = {.count = 0};
   int status;
   hash[0] = '\0';
   if (!text)
      return RKB_OK;
   rkb_hash_text(text, strlen(text), hash);
   rkb_statement_t statement = rkb_statement_begin(writer, RKB_SQL_PUT_DOCUMENT);
   rkb_bind_text(&statement, hash);
   rkb_bind_cut_text(&statement, &kept, text, RKB_ARCHIVE_MAX_REPLY);
   status = rkb_statement_finish(&statement, err);
   rkb_kept_free(&kept);
   return status;
}

static int set_synchronous(rkb_connection_t *writer, const char *mode, rkb_error_t *err) {
   char sql[48];
   snprintf(sql, sizeof sql, "PRAGMA synchronous = %s", mode);
   return rkb_connection_execute(writer, sql, err);
}

static int put_call(rkb_connection_t *writer, const rkb_call_record_t *call, int64_t *id, rkb_error_t *err) {
   char prompt_hash[RKB_HASH_TEXT], provenance_hash[RKB_HASH_TEXT];
   int status = put_document(writer, call->prompt, prompt_hash, err);
   if (status == RKB_OK)
      status = put_document(writer, call->provenance, provenance_hash, err);
   if (status != RKB_OK)
      return status;
   rkb_statement_t statement = rkb_statement_begin(writer, RKB_SQL_PUT_CALL);
   rkb_bind_int(&statement, rkb_request_key(call->section, call->request));
   rkb_bind_int(&statement, call->child);
   rkb_bind_text(&statement, call->stage);
   rkb_bind_text(&statement, call->model);
   rkb_bind_text(&statement, call->prompt ? prompt_hash : NULL);
   rkb_bind_real_or_null(&statement, isfinite(call->temperature), call->temperature);
   rkb_bind_real(&statement, call->reserved_usd);
   rkb_bind_int(&statement, rkb_wall_clock_ms());
   rkb_bind_text(&statement, call->provider);
   rkb_bind_text(&statement, call->key);
   rkb_bind_int(&statement, call->draw);
   rkb_bind_int(&statement, call->attempt > 0 ? call->attempt : 1);
   rkb_bind_text(&statement, call->source ? call->source : "bought");
   rkb_bind_text(&statement, call->provenance ? provenance_hash : NULL);
   status = rkb_statement_finish(&statement, err);
   *id = sqlite3_last_insert_rowid(writer->database);
   return status;
}

/* This commit waits for the disk: if a power cut lost a reservation, money would be spent without a record.  SQLite's setting for this can change only
 * outside a transaction, and no other thread may write meanwhile. */
int rkb_archive_reserve_call(rkb_archive_t *archive, const rkb_call_record_t *call, int64_t *id,
                             rkb_error_t *err) {
   rkb_error_t ignored;
   int status;
   if (!archive->writer)
      return rkb_fail(err, RKB_ERR_INVALID, "the archive %s is open for reading only", archive->path);
   pthread_mutex_lock(&archive->write_mutex);
   status = set_synchronous(archive->writer, "FULL", err);
   if (status != RKB_OK)
      goto unlock;
   status = rkb_connection_execute(archive->writer, "BEGIN IMMEDIATE", err);
   if (status != RKB_OK)
      goto restore;
   status = put_call(archive->writer, call, id, err);
   if (status == RKB_OK)
      status = rkb_connection_execute(archive->writer, "COMMIT", err);
   if (status != RKB_OK && !sqlite3_get_autocommit(archive->writer->database))
      sqlite3_exec(archive->writer->database, "ROLLBACK", NULL, NULL, NULL);

restore:
   set_synchronous(archive->writer, "NORMAL", &ignored);
unlock:
   pthread_mutex_unlock(&archive->write_mutex);
   return status;
}

static int end_call(rkb_connection_t *writer, int64_t id, const rkb_call_record_t *call, rkb_error_t *err) {
   char reply_hash[RKB_HASH_TEXT];
   rkb_kept_t kept = {.count = 0};
   int status = put_document(writer, call->reply, reply_hash, err);
   if (status != RKB_OK)
      return status;
   rkb_statement_t statement = rkb_statement_begin(writer, RKB_SQL_END_CALL);
   rkb_bind_text(&statement, call->state);
   rkb_bind_text(&statement, call->reply ? reply_hash : NULL);
   rkb_bind_cut_text(&statement, &kept, call->error, RKB_ARCHIVE_MAX_TEXT);
   rkb_bind_real(&statement, call->cost_usd);
   rkb_bind_int_or_null(&statement, call->input_tokens >= 0, call->input_tokens);
   rkb_bind_int_or_null(&statement, call->cached_tokens >= 0, call->cached_tokens);
   rkb_bind_int_or_null(&statement, call->output_tokens >= 0, call->output_tokens);
   rkb_bind_real_or_null(&statement, call->seconds >= 0, call->seconds);
   rkb_bind_text(&statement, call->outcome);
   rkb_bind_int_or_null(&statement, call->reasoning_tokens >= 0, call->reasoning_tokens);
   rkb_bind_int(&statement, call->estimated);
   rkb_bind_real(&statement, call->worth_usd);
   rkb_bind_int(&statement, id);
   status = rkb_statement_finish(&statement, err);
   rkb_kept_free(&kept);
   if (status == RKB_OK && sqlite3_changes(writer->database) != 1)
      status = rkb_fail(err, RKB_ERR_INVALID, "archive: call %lld is not reserved", (long long)id);
   return status;
}

int rkb_archive_finish_call(rkb_archive_t *archive, int64_t id, const rkb_call_record_t *call,
                            rkb_error_t *err) {
   int status = rkb_archive_begin(archive, err);
   if (status != RKB_OK)
      return status;
   return rkb_archive_end(archive, end_call(archive->writer, id, call, err), err);
}

/* Reads the one number that a statement returns.  parameter: the statement's only parameter, or NULL if it
 * has none. */
static int read_number(rkb_archive_t *archive, enum rkb_sql which, const int64_t *parameter, double *number,
                       rkb_error_t *err) {
   rkb_connection_t *reader;
   int row, status = rkb_archive_take_reader(archive, &reader, err);
   if (status != RKB_OK)
      return status;
   rkb_statement_t statement = rkb_statement_begin(reader, which);
   if (parameter)
      rkb_bind_int(&statement, *parameter);
   row = rkb_statement_row(&statement, err);
   if (row == 1)
      *number = rkb_column_real(&statement, 0);
   rkb_statement_reset(&statement);
   rkb_archive_give_reader(archive, reader);
   return row < 0 ? row : RKB_OK;
}

int rkb_archive_cost(rkb_archive_t *archive, double *usd, rkb_error_t *err) {
   return read_number(archive, RKB_SQL_GET_COST, NULL, usd, err);
}

int rkb_archive_estimates(rkb_archive_t *archive, double *usd, rkb_error_t *err) {
   return read_number(archive, RKB_SQL_GET_ESTIMATES, NULL, usd, err);
}

int rkb_archive_count_answers(rkb_archive_t *archive, int64_t before, uint64_t *count, rkb_error_t *err) {
   double number = 0;
   const int status = read_number(archive, RKB_SQL_COUNT_ANSWERS, &before, &number, err);
   *count = (uint64_t)number;
   return status;
}

int rkb_archive_find_reply(rkb_archive_t *archive, uint32_t section, int64_t request, const char *stage,
                           int64_t child, bool *found, char **reply, rkb_error_t *err) {
   rkb_connection_t *reader;
   int row, status = rkb_archive_take_reader(archive, &reader, err);
   *found = false;
   *reply = NULL;
   if (status != RKB_OK)
      return status;
   rkb_statement_t statement = rkb_statement_begin(reader, RKB_SQL_GET_REPLY);
   rkb_bind_int(&statement, rkb_request_key(section, request));
   rkb_bind_text(&statement, stage);
   rkb_bind_int(&statement, child);
   row = rkb_statement_row(&statement, err);
   if (row < 0)
      status = row;
   if (row == 1) {
      *reply = rkb_duplicate(rkb_column_text(&statement, 0));
      *found = true;
   }
   rkb_statement_reset(&statement);
   rkb_archive_give_reader(archive, reader);
   return status;
}

int rkb_archive_put_document(rkb_archive_t *archive, const char *text, char *hash, rkb_error_t *err) {
   if (strlen(text) > RKB_ARCHIVE_MAX_REPLY)
      return rkb_fail(err, RKB_ERR_LIMIT, "archive: a document has more than %u bytes", RKB_ARCHIVE_MAX_REPLY);
   int status = rkb_archive_begin(archive, err);
   if (status != RKB_OK)
      return status;
   return rkb_archive_end(archive, put_document(archive->writer, text, hash, err), err);
}

int rkb_archive_get_document(rkb_archive_t *archive, const char *hash, char **text, rkb_error_t *err) {
   char found[RKB_HASH_TEXT] = "";
   rkb_connection_t *reader;
   int row, status = rkb_archive_take_reader(archive, &reader, err);
   *text = NULL;
   if (status != RKB_OK)
      return status;
   rkb_statement_t statement = rkb_statement_begin(reader, RKB_SQL_GET_DOCUMENT);
   rkb_bind_text(&statement, hash);
   row = rkb_statement_row(&statement, err);
   if (row == 1)
      *text = rkb_duplicate(rkb_column_text(&statement, 0));
   rkb_statement_reset(&statement);
   rkb_archive_give_reader(archive, reader);
   if (row < 0)
      return row;
   if (*text)
      rkb_hash_text(*text, strlen(*text), found);
   if (strcmp(found, hash) == 0)
      return RKB_OK;
   free(*text);
   *text = NULL;
   return rkb_fail(err, RKB_ERR_INVALID, "archive: there is no document %.64s", hash);
}

static char *copied(rkb_statement_t *statement, int column) {
   return rkb_column_null(statement, column) ? NULL : rkb_duplicate(rkb_column_text(statement, column));
}

static int read_call(rkb_connection_t *reader, uint32_t section, int64_t request, const char *stage,
                     int64_t child, const char *key, rkb_call_found_t *found, rkb_error_t *err) {
   rkb_statement_t statement = rkb_statement_begin(reader, RKB_SQL_FIND_CALL);
   rkb_bind_int(&statement, rkb_request_key(section, request));
   rkb_bind_text(&statement, stage);
   rkb_bind_int(&statement, child);
   rkb_bind_text(&statement, key);
   int row = rkb_statement_row(&statement, err);
   if (row == 1) {
      found->asked = true;
      found->draw = rkb_column_int(&statement, 0);
      found->replied = rkb_column_int(&statement, 1) && !rkb_column_null(&statement, 2);
      found->reply = copied(&statement, 2);
      found->outcome = copied(&statement, 3);
      found->error = copied(&statement, 4);
      found->input_tokens = rkb_column_count(&statement, 5);
      found->cached_tokens = rkb_column_count(&statement, 6);
      found->output_tokens = rkb_column_count(&statement, 7);
      found->reasoning_tokens = rkb_column_count(&statement, 8);
      found->worth_usd = rkb_column_real(&statement, 9);
      found->seconds = rkb_column_null(&statement, 10) ? -1 : rkb_column_real(&statement, 10);
      found->attempts = rkb_column_int(&statement, 11);
      found->cost_usd = rkb_column_real(&statement, 12);
      found->estimated = rkb_column_int(&statement, 13) != 0;
   }
   rkb_statement_reset(&statement);
   return row < 0 ? row : RKB_OK;
}

static int next_draw(rkb_connection_t *reader, const char *key, int64_t *draw, rkb_error_t *err) {
   rkb_statement_t statement = rkb_statement_begin(reader, RKB_SQL_NEXT_DRAW);
   rkb_bind_text(&statement, key);
   int row = rkb_statement_row(&statement, err);
   *draw = row == 1 ? rkb_column_int(&statement, 0) : 0;
   rkb_statement_reset(&statement);
   return row < 0 ? row : RKB_OK;
}

int rkb_archive_find_call(rkb_archive_t *archive, uint32_t section, int64_t request, const char *stage,
                          int64_t child, const char *key, rkb_call_found_t *found, rkb_error_t *err) {
   rkb_connection_t *reader;
   *found = (rkb_call_found_t){.seconds = -1};
   int status = rkb_archive_take_reader(archive, &reader, err);
   if (status != RKB_OK)
      return status;
   status = read_call(reader, section, request, stage, child, key, found, err);
   if (status == RKB_OK && !found->asked)
      status = next_draw(reader, key, &found->draw, err);
   if (status == RKB_OK && found->replied && !found->reply)
      status = rkb_fail(err, RKB_ERR_INVALID, "the archive has a finished question without its reply");
   rkb_archive_give_reader(archive, reader);
   if (status != RKB_OK)
      rkb_call_found_clear(found);
   return status;
}

void rkb_call_found_clear(rkb_call_found_t *found) {
   free(found->reply);
   free(found->outcome);
   free(found->error);
   *found = (rkb_call_found_t){.seconds = -1};
}

int rkb_archive_abandon_calls(rkb_archive_t *archive, int64_t *count, rkb_error_t *err) {
   int status = rkb_archive_begin(archive, err);
   if (status != RKB_OK)
      return status;
   rkb_statement_t statement = rkb_statement_begin(archive->writer, RKB_SQL_ABANDON_CALLS);
   status = rkb_statement_finish(&statement, err);
   *count = sqlite3_changes(archive->writer->database);
   return rkb_archive_end(archive, status, err);
}

int rkb_archive_put_event(rkb_archive_t *archive, int level, const char *who, const char *kind,
                          int64_t candidate, const char *text, const char *data, rkb_error_t *err) {
   rkb_kept_t kept = {.count = 0};
   int status = rkb_archive_begin(archive, err);
   if (status != RKB_OK)
      return status;
   rkb_statement_t statement = rkb_statement_begin(archive->writer, RKB_SQL_PUT_EVENT);
   rkb_bind_int(&statement, rkb_wall_clock_ms());
   rkb_bind_text(&statement, level >= RKB_LOG_TRACE && level <= RKB_LOG_ERROR ? level_names[level] : "info");
   rkb_bind_text(&statement, who);
   rkb_bind_text(&statement, kind);
   rkb_bind_int_or_null(&statement, candidate != 0, candidate);
   rkb_bind_cut_text(&statement, &kept, text, RKB_ARCHIVE_MAX_TEXT);
   rkb_bind_cut_json(&statement, &kept, data, RKB_ARCHIVE_MAX_TEXT);
   status = rkb_statement_finish(&statement, err);
   rkb_kept_free(&kept);
   return rkb_archive_end(archive, status, err);
}
