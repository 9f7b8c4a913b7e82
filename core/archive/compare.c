/* Compares two archives: reads both in the same order, table by table, and merges the rows by key.  One thread; takes a reader of
 * each.  Each is read as a snapshot, so a run in progress can be compared too. */
#include "archive/comparisons.h"
#include "archive/archive_internal.h"

#include <string.h>

enum { MAX_VALUE_TEXT = 120, MAX_LINE = 1024 };

typedef struct comparing {
   rkb_connection_t *sides[2];
   int64_t limit;
   void (*say)(void *argument, const char *line);
   void *argument;
   rkb_archive_difference_t *result;
} comparing_t;

static void differ(comparing_t *comparing, const char *line) {
   comparing->result->differences++;
   if (comparing->result->differences <= comparing->limit)
      comparing->say(comparing->argument, line);
}

static int compare_real(double left, double right) {
   return left < right ? -1 : left > right;
}

/* Compares in SQLite's order: null, numbers, text. */
static int compare_value(sqlite3_stmt *left, sqlite3_stmt *right, int column) {
   static const int rank[] = {
      [SQLITE_INTEGER] = 1, [SQLITE_FLOAT] = 1, [SQLITE_TEXT] = 2, [SQLITE_BLOB] = 3, [SQLITE_NULL] = 0};
   int left_type = sqlite3_column_type(left, column), right_type = sqlite3_column_type(right, column);
   if (rank[left_type] != rank[right_type])
      return rank[left_type] - rank[right_type];
   if (left_type == SQLITE_NULL)
      return 0;
   if (left_type == SQLITE_INTEGER && right_type == SQLITE_INTEGER) {
      sqlite3_int64 a = sqlite3_column_int64(left, column), b = sqlite3_column_int64(right, column);
      return a < b ? -1 : a > b;
   }
   if (rank[left_type] == 1)
      return compare_real(sqlite3_column_double(left, column), sqlite3_column_double(right, column));
   return strcmp((const char *)sqlite3_column_text(left, column),
                 (const char *)sqlite3_column_text(right, column));
}

static int compare_key(const rkb_comparison_t *table, sqlite3_stmt *left, sqlite3_stmt *right) {
   int order = 0;
   for (int i = 0; order == 0 && i < table->key_columns; i++)
      order = compare_value(left, right, i);
   return order;
}

/* "verdict on candidate 12, machine" */
static void name_row(const rkb_comparison_t *table, sqlite3_stmt *row, char *out, size_t size) {
   size_t used = (size_t)snprintf(out, size, "%s", table->what);
   for (int i = 0; i < table->key_columns && used < size; i++) {
      const char *text = (const char *)sqlite3_column_text(row, i);
      if (!text || !text[0])
         continue;
      int added = snprintf(out + used, size - used, "%s%s", i == 0 ? " " : ", ", text);
      used += added > 0 ? (size_t)added : 0;
   }
}

static void spell_value(sqlite3_stmt *row, int column, char out[MAX_VALUE_TEXT]) {
   const char *text;
   if (sqlite3_column_type(row, column) == SQLITE_FLOAT) {
      snprintf(out, MAX_VALUE_TEXT, "%.17g", sqlite3_column_double(row, column));
      return;
   }
   text = (const char *)sqlite3_column_text(row, column);
   if (!text)
      snprintf(out, MAX_VALUE_TEXT, "nothing");
   else
      snprintf(out, MAX_VALUE_TEXT, "%.*s%s", MAX_VALUE_TEXT - 4, text,
               strlen(text) > MAX_VALUE_TEXT - 4 ? "..." : "");
}

static void compare_rows(comparing_t *comparing, const rkb_comparison_t *table, sqlite3_stmt *left,
                         sqlite3_stmt *right) {
   char name[256], line[MAX_LINE], left_text[MAX_VALUE_TEXT], right_text[MAX_VALUE_TEXT];
   comparing->result->compared++;
   for (int i = table->key_columns; table->columns[i]; i++) {
      if (compare_value(left, right, i) == 0)
         continue;
      name_row(table, left, name, sizeof name);
      spell_value(left, i, left_text);
      spell_value(right, i, right_text);
      snprintf(line, sizeof line, "%s: %s is %s in the first, %s in the second", name, table->columns[i],
               left_text, right_text);
      differ(comparing, line);
   }
}

static void report_alone(comparing_t *comparing, const rkb_comparison_t *table, sqlite3_stmt *row,
                         const char *side) {
   char name[256], line[MAX_LINE];
   comparing->result->compared++;
   name_row(table, row, name, sizeof name);
   snprintf(line, sizeof line, "%s: only in the %s", name, side);
   differ(comparing, line);
}

static int merge(comparing_t *comparing, const rkb_comparison_t *table, sqlite3_stmt *const rows[2],
                 rkb_error_t *err) {
   int results[2] = {sqlite3_step(rows[0]), sqlite3_step(rows[1])};
   while (results[0] == SQLITE_ROW || results[1] == SQLITE_ROW) {
      int order;
      if (results[0] != SQLITE_ROW)
         order = 1;
      else if (results[1] != SQLITE_ROW)
         order = -1;
      else
         order = compare_key(table, rows[0], rows[1]);
      if (order < 0)
         report_alone(comparing, table, rows[0], "first");
      else if (order > 0)
         report_alone(comparing, table, rows[1], "second");
      else
         compare_rows(comparing, table, rows[0], rows[1]);
      if (order <= 0)
         results[0] = sqlite3_step(rows[0]);
      if (order >= 0)
         results[1] = sqlite3_step(rows[1]);
   }
   for (int side = 0; side < 2; side++)
      if (results[side] != SQLITE_DONE)
         return rkb_connection_fail(comparing->sides[side], table->what, err);
   return RKB_OK;
}

static int compare_table(comparing_t *comparing, const rkb_comparison_t *table, rkb_error_t *err) {
   sqlite3_stmt *rows[2] = {NULL, NULL};
   int status = RKB_OK;
   for (int side = 0; status == RKB_OK && side < 2; side++)
      if (sqlite3_prepare_v2(comparing->sides[side]->database, table->sql, -1, &rows[side], NULL) !=
          SQLITE_OK)
         status = rkb_connection_fail(comparing->sides[side], table->what, err);
   if (status == RKB_OK)
      status = merge(comparing, table, rows, err);
   sqlite3_finalize(rows[0]);
   sqlite3_finalize(rows[1]);
   return status;
}

static int count_left_out(comparing_t *comparing, rkb_connection_t *side, rkb_error_t *err) {
   sqlite3_stmt *statement = NULL;
   int status = RKB_OK;
   if (sqlite3_prepare_v2(side->database, rkb_comparison_left_out, -1, &statement, NULL) == SQLITE_OK &&
       sqlite3_step(statement) == SQLITE_ROW)
      comparing->result->left_out += sqlite3_column_int64(statement, 0);
   else
      status = rkb_connection_fail(side, "counting what is left out", err);
   sqlite3_finalize(statement);
   return status;
}

/* Finds a candidate whose build met a limit in one archive only.  Build limits are the only decision in a run that depends on the
 * machine's load. */
static int find_limited(comparing_t *comparing, rkb_error_t *err) {
   sqlite3_stmt *rows[2] = {NULL, NULL};
   int status = RKB_OK, results[2] = {SQLITE_DONE, SQLITE_DONE};
   for (int side = 0; status == RKB_OK && side < 2; side++)
      if (sqlite3_prepare_v2(comparing->sides[side]->database, rkb_comparison_limited, -1, &rows[side],
                             NULL) != SQLITE_OK)
         status = rkb_connection_fail(comparing->sides[side], "builds that met a limit", err);
   while (status == RKB_OK) {
      int64_t candidates[2];
      for (int side = 0; side < 2; side++) {
         results[side] = sqlite3_step(rows[side]);
         candidates[side] = results[side] == SQLITE_ROW ? sqlite3_column_int64(rows[side], 0) : INT64_MAX;
      }
      if (candidates[0] == candidates[1] && candidates[0] != INT64_MAX)
         continue;
      comparing->result->limited_side = candidates[1] < candidates[0];
      if (candidates[0] != candidates[1])
         comparing->result->limited = candidates[comparing->result->limited_side];
      break;
   }
   sqlite3_finalize(rows[0]);
   sqlite3_finalize(rows[1]);
   return status;
}

static int compare_sides(comparing_t *comparing, rkb_error_t *err) {
   int status = RKB_OK;
   for (int side = 0; status == RKB_OK && side < 2; side++)
      status = rkb_connection_execute(comparing->sides[side], "BEGIN", err);
   for (int i = 0; status == RKB_OK && i < rkb_comparison_count; i++)
      status = compare_table(comparing, &rkb_comparisons[i], err);
   for (int side = 0; status == RKB_OK && side < 2; side++)
      status = count_left_out(comparing, comparing->sides[side], err);
   if (status == RKB_OK)
      status = find_limited(comparing, err);
   for (int side = 0; side < 2; side++)
      sqlite3_exec(comparing->sides[side]->database, "ROLLBACK", NULL, NULL, NULL);
   return status;
}

int rkb_archive_compare(rkb_archive_t *left, rkb_archive_t *right, int64_t limit,
                        void (*say)(void *argument, const char *line), void *argument,
                        rkb_archive_difference_t *result, rkb_error_t *err) {
   comparing_t comparing = {.limit = limit, .say = say, .argument = argument, .result = result};
   int status = rkb_archive_take_reader(left, &comparing.sides[0], err);
   if (status != RKB_OK)
      return status;
   status = rkb_archive_take_reader(right, &comparing.sides[1], err);
   if (status != RKB_OK)
      goto give_left;
   *result = (rkb_archive_difference_t){.differences = 0};
   status = compare_sides(&comparing, err);
   rkb_archive_give_reader(right, comparing.sides[1]);

give_left:
   rkb_archive_give_reader(left, comparing.sides[0]);
   return status;
}
