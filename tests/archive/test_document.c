/* docs/archive.md describes every table and column of the schema, and nothing that is not there. */
#include "check.h"
#include "sample_records.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"

enum { MAX_PAGE = 1 << 20, MAX_LIST = 8192 };

/* "table.column" for each line of the page that begins a table or a column, sorted by nothing: in the page's order. */
static void list_page(const char *page, char *out) {
   char table[64] = "", column[64];
   for (const char *line = page; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
      if (sscanf(line, "### %63[a-z_]\n", table) == 1)
         continue;
      if (strncmp(line, "## ", 3) == 0)
         table[0] = '\0';
      if (table[0] && sscanf(line, "| `%63[a-z_]` |", column) == 1)
         snprintf(out + strlen(out), MAX_LIST - strlen(out), "%s.%s\n", table, column);
   }
}

static void list_schema(sqlite3 *database, char *out) {
   sqlite3_stmt *statement = NULL;
   assert_int_equal(
      sqlite3_prepare_v2(database,
                         "SELECT m.name || '.' || p.name FROM sqlite_master m, pragma_table_info(m.name) p "
                         "WHERE m.type = 'table' ORDER BY m.rowid, p.cid",
                         -1, &statement, NULL),
      SQLITE_OK);
   while (sqlite3_step(statement) == SQLITE_ROW)
      snprintf(out + strlen(out), MAX_LIST - strlen(out), "%s\n",
               (const char *)sqlite3_column_text(statement, 0));
   sqlite3_finalize(statement);
}

static void every_column_is_described(void **state) {
   rkb_error_t err;
   rkb_run_identity_t identity = sample_identity();
   rkb_archive_t *archive = NULL;
   sqlite3 *database = NULL;
   char *directory = sample_directory("document"), *path = rkb_run_path_archive(directory), *page = NULL;
   static char described[MAX_LIST], stored[MAX_LIST];
   size_t length = 0;
   (void)state;
   assert_ok(rkb_archive_create(directory, &identity, &archive, &err));
   assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
   assert_ok(rkb_file_read(RKB_SOURCE_DIR "/docs/archive.md", MAX_PAGE, &page, &length, &err));
   list_schema(database, stored);
   list_page(page, described);
   assert_string_equal(described, stored);
   sqlite3_close(database);
   rkb_archive_close(archive);
   free(page);
   free(path);
   sample_remove(directory);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(every_column_is_described)};
   return RUN_TESTS(tests);
}
