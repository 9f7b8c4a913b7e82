/* Reads the rows of a statement.  Runs on the thread that holds the connection; rkb_rows_visit takes a connection itself. */
#include "archive/statement_rows.h"

#include <string.h>
#include "base/memory.h"

enum { FIRST_ROOM = 16 };

const char *rkb_keep_word(rkb_keeper_t *keeper, const rkb_statement_t *statement, int column) {
   const char *text = rkb_column_text(statement, column);
   const size_t bytes = strlen(text) + 1;
   char *copy = rkb_arena_try(keeper->arena, bytes, 1);
   if (!copy) {
      keeper->failed = true;
      return NULL;
   }
   return memcpy(copy, text, bytes);
}

const char *rkb_keep_text(rkb_keeper_t *keeper, const rkb_statement_t *statement, int column) {
   return rkb_column_null(statement, column) ? NULL : rkb_keep_word(keeper, statement, column);
}

/* Makes a list larger.  Its old copy stays in the arena until the arena is freed, which wastes at most as much memory as the list takes. */
static int grow(rkb_arena_t *arena, void **list, uint32_t count, uint32_t *room, size_t size,
                rkb_error_t *err) {
   void *larger;
   uint32_t wanted = *room ? *room * 2 : FIRST_ROOM;
   if (count < *room)
      return RKB_OK;
   larger = rkb_arena_try(arena, wanted, size);
   if (!larger)
      return rkb_arena_fail(arena, "the list of rows", err);
   if (count > 0)
      memcpy(larger, *list, count * size);
   *list = larger;
   *room = wanted;
   return RKB_OK;
}

int rkb_rows_list(rkb_statement_t *statement, rkb_keeper_t *keeper, size_t size, rkb_row_fill_t fill,
                  const void **list, uint32_t *count, rkb_error_t *err) {
   void *filled = NULL;
   uint32_t room = 0;
   int row, status = RKB_OK;
   *count = 0;
   for (row = rkb_statement_row(statement, err); row == 1; row = rkb_statement_row(statement, err)) {
      status = grow(keeper->arena, &filled, *count, &room, size, err);
      if (status != RKB_OK)
         break;
      fill(keeper, statement, (char *)filled + *count * size);
      if (keeper->failed) {
         status = rkb_arena_fail(keeper->arena, "the list of rows", err);
         break;
      }
      (*count)++;
   }
   rkb_statement_reset(statement);
   *list = filled;
   return row < 0 ? row : status;
}

int rkb_rows_visit(rkb_archive_t *archive, enum rkb_sql which, rkb_row_visit_t visit, void *argument,
                   rkb_error_t *err) {
   rkb_connection_t *reader;
   int row, status = rkb_archive_take_reader(archive, &reader, err);
   if (status != RKB_OK)
      return status;
   rkb_statement_t statement = rkb_statement_begin(reader, which);
   for (row = rkb_statement_row(&statement, err); row == 1; row = rkb_statement_row(&statement, err)) {
      status = visit(argument, reader, &statement, err);
      if (status != RKB_OK)
         break;
   }
   rkb_statement_reset(&statement);
   rkb_archive_give_reader(archive, reader);
   return row < 0 ? row : status;
}
