/* Reads a run's candidates and costs, row by row (history.h).  [any]: each call takes its own reader. */
#include "archive/history.h"

#include "archive/statement_rows.h"

typedef struct history_visit {
   int (*visit)(void *argument, const rkb_history_record_t *record);
   void *argument;
} history_visit_t;

static int visit_history(void *argument, rkb_connection_t *reader, const rkb_statement_t *statement,
                         rkb_error_t *err) {
   const history_visit_t *context = argument;
   (void)reader;
   (void)err;
   const rkb_history_record_t record = {.number = rkb_column_int(statement, 0),
                                        .request = rkb_column_int(statement, 1),
                                        .standing = rkb_column_text(statement, 2),
                                        .duplicate = rkb_column_int(statement, 3) > 0,
                                        .has_objective = !rkb_column_null(statement, 4),
                                        .objective = rkb_column_real(statement, 4)};
   return context->visit(context->argument, &record);
}

int rkb_archive_each_history(rkb_archive_t *archive,
                             int (*visit)(void *argument, const rkb_history_record_t *record), void *argument,
                             rkb_error_t *err) {
   history_visit_t context = {visit, argument};
   return rkb_rows_visit(archive, RKB_SQL_GET_HISTORY, visit_history, &context, err);
}

typedef struct cost_visit {
   int (*visit)(void *argument, int64_t request, double usd, int64_t answers);
   void *argument;
} cost_visit_t;

static int visit_cost(void *argument, rkb_connection_t *reader, const rkb_statement_t *statement,
                      rkb_error_t *err) {
   const cost_visit_t *context = argument;
   (void)reader;
   (void)err;
   return context->visit(context->argument, rkb_column_int(statement, 0), rkb_column_real(statement, 1),
                         rkb_column_int(statement, 2));
}

int rkb_archive_each_cost(rkb_archive_t *archive,
                          int (*visit)(void *argument, int64_t request, double usd, int64_t answers), void *argument,
                          rkb_error_t *err) {
   cost_visit_t context = {visit, argument};
   return rkb_rows_visit(archive, RKB_SQL_GET_COSTS, visit_cost, &context, err);
}

typedef struct call_visit {
   int (*visit)(void *argument, const rkb_call_history_t *call);
   void *argument;
} call_visit_t;

static int visit_call(void *argument, rkb_connection_t *reader, const rkb_statement_t *statement,
                      rkb_error_t *err) {
   const call_visit_t *context = argument;
   (void)reader;
   (void)err;
   const rkb_call_history_t call = {.id = rkb_column_int(statement, 0),
                                    .request = rkb_column_int(statement, 1),
                                    .child = rkb_column_int(statement, 2),
                                    .stage = rkb_column_text(statement, 3),
                                    .model = rkb_column_text(statement, 4),
                                    .state = rkb_column_text(statement, 5),
                                    .outcome = rkb_column_optional(statement, 6),
                                    .error = rkb_column_optional(statement, 7),
                                    .prompt = rkb_column_optional(statement, 8),
                                    .reply = rkb_column_optional(statement, 9),
                                    .usd = rkb_column_real(statement, 10),
                                    .input_tokens = rkb_column_count(statement, 11),
                                    .output_tokens = rkb_column_count(statement, 12),
                                    .seconds =
                                       rkb_column_null(statement, 13) ? -1 : rkb_column_real(statement, 13),
                                    .attempt = rkb_column_int(statement, 14),
                                    .source = rkb_column_text(statement, 15)};
   return context->visit(context->argument, &call);
}

int rkb_archive_each_call(rkb_archive_t *archive,
                          int (*visit)(void *argument, const rkb_call_history_t *call), void *argument,
                          rkb_error_t *err) {
   call_visit_t context = {visit, argument};
   return rkb_rows_visit(archive, RKB_SQL_GET_CALLS, visit_call, &context, err);
}

int rkb_request_key_compare(int64_t left, int64_t right) {
   const bool left_searches = left >= 0, right_searches = right >= 0;
   if (left_searches != right_searches)
      return left_searches ? 1 : -1;
   return left_searches ? (left > right) - (left < right) : (left < right) - (left > right);
}
