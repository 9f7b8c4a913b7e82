/* One SQLite connection with its prepared statements, and the small calls that bind, step and read them.
 * Used by one thread at a time; who owns the connection sees to that. */
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
/* Fills err from the connection's last failure: what says what was tried. */
int rkb_connection_fail(rkb_connection_t *connection, const char *what, rkb_error_t *err);

/* One run of a prepared statement: begin, bind in order, then step rows or finish.  A failure is kept and reported by
 * the call that ends the run, so that binds need no test each. */
typedef struct rkb_statement {
   rkb_connection_t *connection;
   sqlite3_stmt *handle;
   int bound;  /* parameters bound so far */
   int result; /* first SQLite result that was not OK, or SQLITE_OK */
} rkb_statement_t;

rkb_statement_t rkb_statement_begin(rkb_connection_t *connection, enum rkb_sql which);
void rkb_bind_int(rkb_statement_t *statement, int64_t value);
void rkb_bind_real(rkb_statement_t *statement, double value);
void rkb_bind_null(rkb_statement_t *statement);
/* NULL binds NULL; the text must live until the end */
void rkb_bind_text(rkb_statement_t *statement, const char *text);
void rkb_bind_int_or_null(rkb_statement_t *statement, bool present, int64_t value);
void rkb_bind_real_or_null(rkb_statement_t *statement, bool present, double value);
/* Runs it to its end and resets it. */
int rkb_statement_finish(rkb_statement_t *statement, rkb_error_t *err);
/* The next row: 1, none left: 0, failure: negative status with err filled.  At 0 and on failure it is reset. */
int rkb_statement_row(rkb_statement_t *statement, rkb_error_t *err);
/* Ends it before its last row. */
void rkb_statement_reset(rkb_statement_t *statement);
/* Columns of the row, from 0.  Text lives until the next row; NULL when the column is null. */
const char *rkb_column_text(const rkb_statement_t *statement, int column);
int64_t rkb_column_int(const rkb_statement_t *statement, int column);
double rkb_column_real(const rkb_statement_t *statement, int column);
bool rkb_column_null(const rkb_statement_t *statement, int column);

#endif
