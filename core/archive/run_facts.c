/* A run's facts: names, each with a value (table fact).  Runs on the thread that holds the connection. */
#include "archive/run_facts.h"

#include "base/memory.h"

int rkb_fact_put(rkb_connection_t *writer, const char *key, const char *value, rkb_error_t *err) {
   rkb_statement_t statement = rkb_statement_begin(writer, RKB_SQL_PUT_FACT);
   rkb_bind_text(&statement, key);
   rkb_bind_text(&statement, value ? value : "");
   return rkb_statement_finish(&statement, err);
}

int rkb_fact_get(rkb_connection_t *connection, const char *key, char **value, rkb_error_t *err) {
   int row;
   rkb_statement_t statement = rkb_statement_begin(connection, RKB_SQL_GET_FACT);
   *value = NULL;
   rkb_bind_text(&statement, key);
   row = rkb_statement_row(&statement, err);
   if (row != 1)
      return row;
   *value = rkb_duplicate(rkb_column_text(&statement, 0));
   rkb_statement_reset(&statement);
   return RKB_OK;
}
