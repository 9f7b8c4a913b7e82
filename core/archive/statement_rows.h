/* Reads the rows of a statement into a list in an arena, or passes them one by one to a visitor. */
#ifndef RKB_ARCHIVE_STATEMENT_ROWS_H
#define RKB_ARCHIVE_STATEMENT_ROWS_H

#include "base/arena.h"
#include "archive/archive_internal.h"

/* The most bytes that one loaded request or candidate may take.  Each of its parts was limited when it was
 * stored. */
#define RKB_RECORD_LIMIT ((size_t)256 << 20)

/* The arena for copied texts.  It remembers whether any copy failed, so the caller checks once, after the last copy. */
typedef struct rkb_keeper {
   rkb_arena_t *arena;
   bool failed;
} rkb_keeper_t;

/* A copy of a column's text; "" for null, which only a damaged archive has there. */
const char *rkb_keep_word(rkb_keeper_t *keeper, const rkb_statement_t *statement, int column);
/* A copy of a column's text; NULL for null. */
const char *rkb_keep_text(rkb_keeper_t *keeper, const rkb_statement_t *statement, int column);

/* Fills an entry of a list, size bytes, from the statement's row. */
typedef void (*rkb_row_fill_t)(rkb_keeper_t *keeper, const rkb_statement_t *statement, void *entry);
int rkb_rows_list(rkb_statement_t *statement, rkb_keeper_t *keeper, size_t size, rkb_row_fill_t fill,
                  const void **list, uint32_t *count, rkb_error_t *err);

/* Passes each row of a statement without parameters to visit, until visit returns a status other than RKB_OK. */
typedef int (*rkb_row_visit_t)(void *argument, rkb_connection_t *reader, const rkb_statement_t *statement,
                               rkb_error_t *err);
int rkb_rows_visit(rkb_archive_t *archive, enum rkb_sql which, rkb_row_visit_t visit, void *argument,
                   rkb_error_t *err);

#endif
