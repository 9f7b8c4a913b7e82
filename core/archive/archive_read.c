/* Reads requests, the dialogue, candidate numbers and counts.  [any]: each call takes its own reader. */
#include "archive/statement_rows.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

static void fill_number(rkb_keeper_t *keeper, const rkb_statement_t *statement, void *entry) {
   (void)keeper;
   *(int64_t *)entry = rkb_column_int(statement, 0);
}

static int read_inputs(rkb_connection_t *reader, rkb_keeper_t *keeper, int64_t key, const char *role,
                       const int64_t **numbers, uint32_t *count, rkb_error_t *err) {
   const void *list;
   int status;
   rkb_statement_t statement = rkb_statement_begin(reader, RKB_SQL_GET_REQUEST_INPUTS);
   rkb_bind_int(&statement, key);
   rkb_bind_text(&statement, role);
   status = rkb_rows_list(&statement, keeper, sizeof **numbers, fill_number, &list, count, err);
   *numbers = list;
   return status;
}

static int read_request(rkb_connection_t *reader, const rkb_statement_t *statement, rkb_keeper_t *keeper,
                        rkb_request_record_t *request, rkb_error_t *err) {
   int64_t key = rkb_column_int(statement, 0);
   int status;
   *request = (rkb_request_record_t){
      .section = rkb_request_key_section(key),
      .number = rkb_request_key_number(key),
      .operator_id = rkb_keep_word(keeper, statement, 1),
      .answer = rkb_answer_parse(rkb_column_text(statement, 2)),
      .state = rkb_state_parse(rkb_column_text(statement, 3)),
      .group = rkb_column_null(statement, 4) ? -1 : rkb_column_int(statement, 4),
      .hints = rkb_keep_text(keeper, statement, 5),
      .failure = rkb_keep_text(keeper, statement, 6),
   };
   if (keeper->failed)
      return rkb_arena_fail(keeper->arena, "the record", err);
   status = read_inputs(reader, keeper, key, "parent", &request->parents, &request->parent_count, err);
   if (status == RKB_OK)
      status = read_inputs(reader, keeper, key, "inspiration", &request->inspirations,
                           &request->inspiration_count, err);
   return status;
}

typedef struct request_visit {
   int (*visit)(void *argument, const rkb_request_record_t *request);
   void *argument;
} request_visit_t;

static int visit_request(void *argument, rkb_connection_t *reader, const rkb_statement_t *statement,
                         rkb_error_t *err) {
   const request_visit_t *context = argument;
   rkb_request_record_t request;
   int status;
   rkb_keeper_t keeper = {.arena = rkb_arena_new(RKB_RECORD_LIMIT)};
   status = read_request(reader, statement, &keeper, &request, err);
   if (status == RKB_OK)
      status = context->visit(context->argument, &request);
   rkb_arena_free(keeper.arena);
   return status;
}

int rkb_archive_each_request(rkb_archive_t *archive,
                             int (*visit)(void *argument, const rkb_request_record_t *request),
                             void *argument, rkb_error_t *err) {
   request_visit_t context = {visit, argument};
   return rkb_rows_visit(archive, RKB_SQL_GET_REQUESTS, visit_request, &context, err);
}

typedef struct dialogue_visit {
   int (*visit)(void *argument, const rkb_strategy_record_record_t *record);
   void *argument;
} dialogue_visit_t;

static int visit_dialogue(void *argument, rkb_connection_t *reader, const rkb_statement_t *statement,
                          rkb_error_t *err) {
   const dialogue_visit_t *context = argument;
   int64_t key = rkb_column_int(statement, 1);
   const rkb_strategy_record_record_t record = {.what = rkb_strategy_record_parse(rkb_column_text(statement, 0)),
                                         .section = rkb_request_key_section(key),
                                         .request = rkb_request_key_number(key),
                                         .hash = rkb_column_text(statement, 2)};
   (void)reader;
   (void)err;
   return context->visit(context->argument, &record);
}

int rkb_archive_each_dialogue(rkb_archive_t *archive,
                              int (*visit)(void *argument, const rkb_strategy_record_record_t *record),
                              void *argument, rkb_error_t *err) {
   dialogue_visit_t context = {visit, argument};
   return rkb_rows_visit(archive, RKB_SQL_GET_DIALOGUE, visit_dialogue, &context, err);
}

typedef struct judge_visit {
   int (*visit)(void *argument, const rkb_judge_record_t *judge);
   void *argument;
} judge_visit_t;

static int visit_judge(void *argument, rkb_connection_t *reader, const rkb_statement_t *statement,
                       rkb_error_t *err) {
   const judge_visit_t *context = argument;
   (void)reader;
   (void)err;
   const rkb_judge_record_t judge = {.stage = rkb_column_text(statement, 0),
                                     .both_reject = rkb_column_int(statement, 1),
                                     .only_judge_rejects = rkb_column_int(statement, 2),
                                     .both_accept = rkb_column_int(statement, 3),
                                     .only_machine_rejects = rkb_column_int(statement, 4),
                                     .abstained = rkb_column_int(statement, 5),
                                     .missing = rkb_column_int(statement, 6),
                                     .worth_usd = rkb_column_real(statement, 7)};
   return context->visit(context->argument, &judge);
}

int rkb_archive_each_judge(rkb_archive_t *archive,
                           int (*visit)(void *argument, const rkb_judge_record_t *judge), void *argument,
                           rkb_error_t *err) {
   judge_visit_t context = {visit, argument};
   return rkb_rows_visit(archive, RKB_SQL_COMPARE_JUDGES, visit_judge, &context, err);
}

/* Copies a list into one malloc'd block, so that the caller frees only that. */
static int copy_numbers(const void *list, uint32_t count, int64_t **numbers, rkb_error_t *err) {
   *numbers = rkb_try_allocate(count, sizeof **numbers, err);
   if (!*numbers)
      return RKB_ERR_NOMEM;
   if (count > 0)
      memcpy(*numbers, list, count * sizeof **numbers);
   return RKB_OK;
}

int rkb_archive_candidates(rkb_archive_t *archive, uint32_t section, int64_t request, int64_t **numbers,
                           uint32_t *count, rkb_error_t *err) {
   const void *list = NULL;
   rkb_connection_t *reader;
   rkb_keeper_t keeper = {.arena = rkb_arena_new(RKB_RECORD_LIMIT)};
   int status;
   status = rkb_archive_take_reader(archive, &reader, err);
   if (status != RKB_OK)
      goto free_arena;
   rkb_statement_t statement =
      rkb_statement_begin(reader, section == 0 ? RKB_SQL_GET_CANDIDATES : RKB_SQL_GET_REQUEST_CANDIDATES);
   if (section != 0)
      rkb_bind_int(&statement, rkb_request_key(section, request));
   status = rkb_rows_list(&statement, &keeper, sizeof **numbers, fill_number, &list, count, err);
   rkb_archive_give_reader(archive, reader);
   if (status == RKB_OK)
      status = copy_numbers(list, *count, numbers, err);

free_arena:
   rkb_arena_free(keeper.arena);
   return status;
}

/* One row of integers. */
typedef struct integer_row {
   int64_t *const *values;
   int count;
} integer_row_t;

static int visit_integers(void *argument, rkb_connection_t *reader, const rkb_statement_t *statement,
                          rkb_error_t *err) {
   const integer_row_t *row = argument;
   (void)reader;
   (void)err;
   for (int i = 0; i < row->count; i++)
      *row->values[i] = rkb_column_int(statement, i);
   return RKB_OK;
}

int rkb_archive_last_candidate(rkb_archive_t *archive, int64_t *number, rkb_error_t *err) {
   int64_t first = 1;
   int64_t *const values[] = {number, &first};
   integer_row_t row = {values, 2};
   const int status = rkb_rows_visit(archive, RKB_SQL_GET_LAST_CANDIDATE, visit_integers, &row, err);
   /* Callers make lists of that length. */
   if (status == RKB_OK && (first < 1 || *number > RKB_ARCHIVE_MOST_CANDIDATES))
      return rkb_fail(err, RKB_ERR_INVALID, "the archive is damaged: it has a candidate %lld",
                      (long long)(first < 1 ? first : *number));
   return status;
}

int rkb_archive_count(rkb_archive_t *archive, rkb_archive_counts_t *counts, rkb_error_t *err) {
   int64_t *const values[] = {&counts->requests,   &counts->candidates, &counts->accepted,
                              &counts->suspect,    &counts->unknown,    &counts->rejected,
                              &counts->duplicates, &counts->promoted,   &counts->calls};
   integer_row_t row = {values, sizeof values / sizeof values[0]};
   return rkb_rows_visit(archive, RKB_SQL_COUNT_ALL, visit_integers, &row, err);
}
