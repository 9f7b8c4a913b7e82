/* An SQLite connection: settings, prepared statements, and errors as sentences.  Owns the handle and its statements.  One thread at
 * a time. */
#include "archive/connection.h"

#include <sys/stat.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/memory.h"

static const char *const statement_text[RKB_SQL_COUNT] = {
#define RKB_X(name, sql) [RKB_SQL_##name] = sql,
   RKB_SQL_MAP(RKB_X)
#undef RKB_X
};

/* How long, in milliseconds, a writer waits for a reader's checkpoint or recovery.  Because the run's lock allows no second writer, a longer wait means a
 * fault. */
enum { BUSY_MS = 10000 };

/* WAL with NORMAL survives any kill of the process; only a power cut can lose the last commits (sqlite.org/wal.html, "Performance
 * Considerations").  A checkpoint waits for the disk, so it is made rarely: every 4,096 pages, 16 MiB. */
static const char writer_settings[] =
   "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; "
   "PRAGMA wal_autocheckpoint = 4096; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY";
static const char reader_settings[] =
   "PRAGMA query_only = ON; PRAGMA cell_size_check = ON; PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY";

/* The author of an archive is not trusted.  Its schema may call none of this program's functions and cannot
 * be changed while it is read.  No value may be longer than the longest text that this program writes, with
 * room for JSON around it. */
enum { MOST_VALUE_BYTES = 16 << 20 };
static void distrust(sqlite3 *database) {
   sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
   sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
   sqlite3_limit(database, SQLITE_LIMIT_LENGTH, MOST_VALUE_BYTES);
}

static int status_of(int result) {
   switch (result & 0xff) {
   case SQLITE_OK:
   case SQLITE_DONE:
   case SQLITE_ROW:
      return RKB_OK;
   case SQLITE_NOMEM:
      return RKB_ERR_NOMEM;
   case SQLITE_BUSY:
   case SQLITE_LOCKED:
      return RKB_ERR_UNAVAILABLE;
   case SQLITE_CONSTRAINT:
   case SQLITE_NOTADB:
   case SQLITE_MISMATCH:
      return RKB_ERR_INVALID;
   case SQLITE_TOOBIG:
      return RKB_ERR_LIMIT;
   case SQLITE_MISUSE:
   case SQLITE_RANGE:
   case SQLITE_ERROR:
      return RKB_ERR_INTERNAL;
   default:
      return RKB_ERR_IO;
   }
}

static int fail_with(rkb_connection_t *connection, int result, const char *what, rkb_error_t *err) {
   int status = status_of(result);
   /* After a failed COMMIT system_errno is 0 (seen with 3.40), but errno still has the write's error. */
   int left_behind = errno, reason = sqlite3_system_errno(connection->database);
   if (reason == 0 && status == RKB_ERR_IO)
      reason = left_behind;
   /* A full disk shows as SQLITE_FULL, or as a failed write with the system's reason: EFBIG is a file size limit. */
   if (result == SQLITE_FULL || reason == ENOSPC || reason == EDQUOT || reason == EFBIG)
      return rkb_fail(err, RKB_ERR_IO,
                      "archive: %s: the disk is full (or a quota or file size limit is reached); "
                      "nothing stored so far is lost: make room and resume the run",
                      what);
   return rkb_fail(err, status == RKB_OK ? RKB_ERR_INTERNAL : status, "archive: %s: %s%s%s", what,
                   sqlite3_errmsg(connection->database), status == RKB_ERR_IO && reason != 0 ? ": " : "",
                   status == RKB_ERR_IO && reason != 0 ? strerror(reason) : "");
}

int rkb_connection_fail(rkb_connection_t *connection, const char *what, rkb_error_t *err) {
   return fail_with(connection, sqlite3_extended_errcode(connection->database), what, err);
}

int rkb_connection_execute(rkb_connection_t *connection, const char *sql, rkb_error_t *err) {
   int result;
   errno = 0;
   result = sqlite3_exec(connection->database, sql, NULL, NULL, NULL);
   if (result != SQLITE_OK)
      return fail_with(connection, result, "running a statement", err);
   return RKB_OK;
}

/* For a finished run on a read-only medium: opened as immutable, SQLite needs no shared memory.  Safe only when there is no log to
 * replay. */
static char *immutable_name(const char *path) {
   char *log_path = rkb_format("%s-wal", path), *name = NULL;
   if (access(log_path, F_OK) != 0 && strpbrk(path, "?#%") == NULL)
      name = rkb_format("file:%s?immutable=1", path);
   free(log_path);
   return name;
}

static int open_reader(const char *path, sqlite3 **database) {
   int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
   char *name;
   int result = sqlite3_open_v2(path, database, flags & ~SQLITE_OPEN_URI, NULL);
   if (result == SQLITE_OK)
      result = sqlite3_exec(*database, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
   if (result != SQLITE_CANTOPEN && result != SQLITE_READONLY && result != SQLITE_READONLY_DIRECTORY)
      return result;
   name = immutable_name(path);
   if (!name)
      return result;
   sqlite3_close(*database);
   *database = NULL;
   result = sqlite3_open_v2(name, database, flags, NULL);
   free(name);
   return result;
}

/* Whether a path is safe to open.  A pipe would never open, and through a link SQLite would write to another file.  An archive that is only read may be a
 * link; the files that SQLite puts beside it may not. */
static bool is_archive_file(const char *path, int mode) {
   static const char *const beside[] = {"-wal", "-shm", "-journal"};
   struct stat about;
   bool good =
      (mode == RKB_CONNECTION_READ ? stat(path, &about) : lstat(path, &about)) != 0 || S_ISREG(about.st_mode);
   for (size_t n = 0; n < sizeof beside / sizeof *beside && good; n++) {
      char *other = rkb_format("%s%s", path, beside[n]);
      good = lstat(other, &about) != 0 || S_ISREG(about.st_mode);
      free(other);
   }
   return good;
}

int rkb_connection_open(const char *path, int mode, rkb_connection_t **connection, rkb_error_t *err) {
   int result, status = RKB_OK;
   if (!is_archive_file(path, mode))
      return rkb_fail(err, RKB_ERR_INVALID, "%s or a file beside it is a link or no file", path);
   rkb_connection_t *opened = rkb_allocate(1, sizeof *opened);
   if (mode == RKB_CONNECTION_READ)
      result = open_reader(path, &opened->database);
   else
      result = sqlite3_open_v2(path, &opened->database,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
                                  (mode == RKB_CONNECTION_CREATE ? SQLITE_OPEN_CREATE : 0),
                               NULL);
   if (result == SQLITE_OK) {
      sqlite3_extended_result_codes(opened->database, 1);
      distrust(opened->database);
      sqlite3_busy_timeout(opened->database, BUSY_MS);
      result = sqlite3_exec(opened->database, mode == RKB_CONNECTION_READ ? reader_settings : writer_settings,
                            NULL, NULL, NULL);
   }
   if (result != SQLITE_OK)
      status = opened->database ? fail_with(opened, result, path, err) : rkb_fail_memory(err, 0);
   if (status != RKB_OK) {
      rkb_connection_close(opened);
      return status;
   }
   *connection = opened;
   return RKB_OK;
}

void rkb_connection_close(rkb_connection_t *connection) {
   if (!connection)
      return;
   for (int i = 0; i < RKB_SQL_COUNT; i++)
      sqlite3_finalize(connection->statements[i]);
   sqlite3_close(connection->database);
   free(connection);
}

rkb_statement_t rkb_statement_begin(rkb_connection_t *connection, enum rkb_sql which) {
   rkb_statement_t statement = {.connection = connection, .result = SQLITE_OK};
   if (!connection->statements[which])
      statement.result = sqlite3_prepare_v3(connection->database, statement_text[which], -1,
                                            SQLITE_PREPARE_PERSISTENT, &connection->statements[which], NULL);
   statement.handle = connection->statements[which];
   return statement;
}

static void keep_result(rkb_statement_t *statement, int result) {
   if (statement->result == SQLITE_OK)
      statement->result = result;
}

void rkb_bind_int(rkb_statement_t *statement, int64_t value) {
   keep_result(statement, sqlite3_bind_int64(statement->handle, ++statement->bound, value));
}

void rkb_bind_real(rkb_statement_t *statement, double value) {
   keep_result(statement, sqlite3_bind_double(statement->handle, ++statement->bound, value));
}

void rkb_bind_null(rkb_statement_t *statement) {
   keep_result(statement, sqlite3_bind_null(statement->handle, ++statement->bound));
}

void rkb_bind_text(rkb_statement_t *statement, const char *text) {
   keep_result(statement, sqlite3_bind_text(statement->handle, ++statement->bound, text, -1, SQLITE_STATIC));
}

void rkb_bind_int_or_null(rkb_statement_t *statement, bool present, int64_t value) {
   if (present)
      rkb_bind_int(statement, value);
   else
      rkb_bind_null(statement);
}

void rkb_bind_real_or_null(rkb_statement_t *statement, bool present, double value) {
   if (present)
      rkb_bind_real(statement, value);
   else
      rkb_bind_null(statement);
}

static int finish_with(rkb_statement_t *statement, int result, rkb_error_t *err) {
   int status = RKB_OK;
   if (result != SQLITE_DONE && result != SQLITE_ROW)
      status = fail_with(statement->connection, result,
                         statement->handle ? sqlite3_sql(statement->handle) : "preparing a statement", err);
   rkb_statement_reset(statement);
   return status;
}

static int step(rkb_statement_t *statement) {
   if (statement->result != SQLITE_OK)
      return statement->result;
   errno = 0;
   return sqlite3_step(statement->handle);
}

int rkb_statement_row(rkb_statement_t *statement, rkb_error_t *err) {
   int result = step(statement);
   return result == SQLITE_ROW ? 1 : finish_with(statement, result, err);
}

int rkb_statement_finish(rkb_statement_t *statement, rkb_error_t *err) {
   return finish_with(statement, step(statement), err);
}

void rkb_statement_reset(rkb_statement_t *statement) {
   if (!statement->handle)
      return;
   sqlite3_reset(statement->handle);
   sqlite3_clear_bindings(statement->handle);
}

const char *rkb_column_text(const rkb_statement_t *statement, int column) {
   /* A damaged archive may have NULL where the schema says NOT NULL; sqlite3_column_text also returns NULL
    * when memory is out. */
   const char *text = (const char *)sqlite3_column_text(statement->handle, column);
   return text ? text : "";
}

int64_t rkb_column_int(const rkb_statement_t *statement, int column) {
   return sqlite3_column_int64(statement->handle, column);
}

double rkb_column_real(const rkb_statement_t *statement, int column) {
   return sqlite3_column_double(statement->handle, column);
}

bool rkb_column_null(const rkb_statement_t *statement, int column) {
   return sqlite3_column_type(statement->handle, column) == SQLITE_NULL;
}

int64_t rkb_column_count(const rkb_statement_t *statement, int column) {
   return rkb_column_null(statement, column) ? -1 : rkb_column_int(statement, column);
}

const char *rkb_column_optional(const rkb_statement_t *statement, int column) {
   return rkb_column_null(statement, column) ? NULL : rkb_column_text(statement, column);
}
