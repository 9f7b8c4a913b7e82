/* Rows of a statement as a list in an arena, or one after another to a visitor. */
#ifndef RKB_ARCHIVE_STATEMENT_ROWS_H
#define RKB_ARCHIVE_STATEMENT_ROWS_H

#include "base/arena.h"
#include "archive/archive_internal.h"

/* Most bytes one loaded request or candidate may take; its parts are capped one by one when they are stored. */
#define RKB_RECORD_LIMIT ((size_t)256 << 20)

/* Where texts are copied to, and whether one found no room: tested once, after the last. */
typedef struct rkb_keeper {
   rkb_arena_t *arena;
   bool failed;
} rkb_keeper_t;

/* A copy of a column's text; NULL for null. */
const char *rkb_keep_text(rkb_keeper_t *keeper, const rkb_statement_t *statement, int column);

/* Fills an entry, size bytes of a list, from the statement's row. */
typedef void (*rkb_row_fill_t)(rkb_keeper_t *keeper, const rkb_statement_t *statement, void *entry);
int rkb_rows_list(rkb_statement_t *statement, rkb_keeper_t *keeper, size_t size, rkb_row_fill_t fill,
                  const void **list, uint32_t *count, rkb_error_t *err);

/* Hands each row of a statement without parameters to visit, until one returns another status than RKB_OK. */
typedef int (*rkb_row_visit_t)(void *argument, rkb_connection_t *reader, const rkb_statement_t *statement,
                               rkb_error_t *err);
int rkb_rows_visit(rkb_archive_t *archive, enum rkb_sql which, rkb_row_visit_t visit, void *argument,
                   rkb_error_t *err);

#endif
