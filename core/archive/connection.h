/* One SQLite connection with its prepared statements, and helpers that bind, step and read them.
 * One thread at a time; the connection's owner must ensure that. */
#ifndef RKB_ARCHIVE_CONNECTION_H
#define RKB_ARCHIVE_CONNECTION_H

#include <sqlite3.h>
#include <rkb/plugin.h>
#include "archive/statements.h"

typedef struct rkb_connection {
   sqlite3 *database;
   sqlite3_stmt *statements[RKB_SQL_COUNT]; /* prepared at their first use */
   struct rkb_connection *next;             /* in the pool of idle readers */
} rkb_connection_t;

enum rkb_connection_mode { RKB_CONNECTION_CREATE, RKB_CONNECTION_WRITE, RKB_CONNECTION_READ };

int rkb_connection_open(const char *path, int mode, rkb_connection_t **connection, rkb_error_t *err);
void rkb_connection_close(rkb_connection_t *connection); /* NULL is accepted */
/* Runs SQL that gives no rows. */
int rkb_connection_execute(rkb_connection_t *connection, const char *sql, rkb_error_t *err);
/* Fills err from the connection's last failure.  `what` names the action that failed. */
int rkb_connection_fail(rkb_connection_t *connection, const char *what, rkb_error_t *err);

/* One run of a prepared statement: begin, bind the parameters in order, then step rows or finish.  A failed bind is remembered and
 * reported by the call that ends the run, so binds need no checks. */
typedef struct rkb_statement {
   rkb_connection_t *connection;
   sqlite3_stmt *handle;
   int bound;  /* parameters bound so far */
   int result; /* the first SQLite result that was not OK, or SQLITE_OK */
} rkb_statement_t;

rkb_statement_t rkb_statement_begin(rkb_connection_t *connection, enum rkb_sql which);
void rkb_bind_int(rkb_statement_t *statement, int64_t value);
void rkb_bind_real(rkb_statement_t *statement, double value);
void rkb_bind_null(rkb_statement_t *statement);
/* Binds a text, or NULL.  The text must live until the run ends. */
void rkb_bind_text(rkb_statement_t *statement, const char *text);
void rkb_bind_int_or_null(rkb_statement_t *statement, bool present, int64_t value);
void rkb_bind_real_or_null(rkb_statement_t *statement, bool present, double value);
/* Runs the statement to its end and resets it. */
int rkb_statement_finish(rkb_statement_t *statement, rkb_error_t *err);
/* Steps to the next row.  Returns 1 for a row, 0 when none is left, or a negative status with err filled.  Resets the statement in
 * the last two cases. */
int rkb_statement_row(rkb_statement_t *statement, rkb_error_t *err);
/* Ends the run before its last row. */
void rkb_statement_reset(rkb_statement_t *statement);
/* A column of the row, from 0.  The text is valid until the next row; NULL for null. */
const char *rkb_column_text(const rkb_statement_t *statement, int column);
int64_t rkb_column_int(const rkb_statement_t *statement, int column);
double rkb_column_real(const rkb_statement_t *statement, int column);
/* A count; -1 for null. */
int64_t rkb_column_count(const rkb_statement_t *statement, int column);
/* A text; NULL for null. */
const char *rkb_column_optional(const rkb_statement_t *statement, int column);
bool rkb_column_null(const rkb_statement_t *statement, int column);

#endif
