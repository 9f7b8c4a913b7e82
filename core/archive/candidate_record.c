/* Loads a candidate with all its records.  [any]: each call takes its own reader. */
#include "archive/statement_rows.h"

#include <stdlib.h>
#include "base/memory.h"

/* A loaded candidate and its memory.  The record is the first member, so a pointer to it converts to this type. */
typedef struct loaded_candidate {
   rkb_candidate_record_t record;
   rkb_keeper_t keeper;
} loaded_candidate_t;

static int read_row(rkb_connection_t *reader, int64_t number, loaded_candidate_t *loaded, rkb_error_t *err) {
   rkb_keeper_t *keeper = &loaded->keeper;
   int row;
   rkb_statement_t statement = rkb_statement_begin(reader, RKB_SQL_GET_CANDIDATE);
   rkb_bind_int(&statement, number);
   row = rkb_statement_row(&statement, err);
   if (row < 0)
      return row;
   if (row == 0)
      return rkb_fail(err, RKB_ERR_INVALID, "the archive has no candidate %lld", (long long)number);
   int64_t key = rkb_column_int(&statement, 1);
   loaded->record = (rkb_candidate_record_t){
      .number = number,
      .section = rkb_request_key_section(key),
      .request = rkb_request_key_number(key),
      .child = (uint32_t)rkb_column_int(&statement, 2),
      .hash = rkb_keep_word(keeper, &statement, 3),
      .source_hash = rkb_keep_word(keeper, &statement, 4),
      .tune = rkb_keep_word(keeper, &statement, 5),
      .operator_id = rkb_keep_word(keeper, &statement, 6),
      .task = rkb_keep_word(keeper, &statement, 7),
      .direction = rkb_keep_word(keeper, &statement, 8),
      .standing = rkb_keep_word(keeper, &statement, 9),
      .reason = rkb_keep_word(keeper, &statement, 10),
      .duplicate_of = rkb_column_int(&statement, 11),
      .promotion = rkb_promotion_parse(rkb_column_text(&statement, 12)),
      .has_objective = !rkb_column_null(&statement, 13),
      .objective = rkb_column_real(&statement, 13),
      .token_hash = rkb_keep_text(keeper, &statement, 14),
      .ptx_hash = rkb_keep_text(keeper, &statement, 15),
      .plan_hash = rkb_keep_text(keeper, &statement, 16),
      .cubin_hash = rkb_keep_text(keeper, &statement, 17),
      .note = rkb_keep_text(keeper, &statement, 18),
      .source = rkb_keep_word(keeper, &statement, 19),
   };
   rkb_statement_reset(&statement);
   return !keeper->failed ? RKB_OK : rkb_arena_fail(keeper->arena, "the candidate", err);
}

static void fill_parent(rkb_keeper_t *keeper, const rkb_statement_t *statement, void *entry) {
   *(rkb_parent_record_t *)entry = (rkb_parent_record_t){
      .number = rkb_column_int(statement, 0),
      .role = rkb_keep_word(keeper, statement, 1),
   };
}

static void fill_verdict(rkb_keeper_t *keeper, const rkb_statement_t *statement, void *entry) {
   *(rkb_verdict_record_t *)entry = (rkb_verdict_record_t){
      .stage = rkb_keep_word(keeper, statement, 0),
      .standing = rkb_keep_word(keeper, statement, 1),
      .reason = rkb_keep_word(keeper, statement, 2),
      .message = rkb_keep_word(keeper, statement, 3),
      .evidence = rkb_keep_text(keeper, statement, 4),
      .certificate = rkb_keep_text(keeper, statement, 5),
      .shadow = rkb_column_int(statement, 6) != 0,
      .executes = rkb_column_int(statement, 7) != 0,
      .reproducible = rkb_column_int(statement, 8) != 0,
      .attempts = (uint32_t)rkb_column_int(statement, 9),
      .seconds = rkb_column_null(statement, 10) ? -1.0 : rkb_column_real(statement, 10),
   };
}

static void fill_measurement(rkb_keeper_t *keeper, const rkb_statement_t *statement, void *entry) {
   const char *case_name = rkb_keep_text(keeper, statement, 1);
   *(rkb_measurement_record_t *)entry = (rkb_measurement_record_t){
      .name = rkb_keep_word(keeper, statement, 0),
      .case_name = case_name && case_name[0] ? case_name : NULL,
      .value = rkb_column_real(statement, 2),
      .unit = rkb_keep_word(keeper, statement, 3),
      .better = rkb_keep_word(keeper, statement, 4),
      .spread = rkb_column_null(statement, 5) ? -1.0 : rkb_column_real(statement, 5),
      .method = rkb_keep_word(keeper, statement, 6),
      .detail = rkb_keep_text(keeper, statement, 7),
      .shadow = rkb_column_int(statement, 8) != 0,
      .reproducible = rkb_column_int(statement, 9) != 0,
   };
}

static int read_about(rkb_connection_t *reader, enum rkb_sql which, loaded_candidate_t *loaded, size_t size,
                      rkb_row_fill_t fill, const void **list, uint32_t *count, rkb_error_t *err) {
   rkb_statement_t statement = rkb_statement_begin(reader, which);
   rkb_bind_int(&statement, loaded->record.number);
   return rkb_rows_list(&statement, &loaded->keeper, size, fill, list, count, err);
}

static int read_all(rkb_connection_t *reader, int64_t number, loaded_candidate_t *loaded, rkb_error_t *err) {
   rkb_candidate_record_t *record = &loaded->record;
   const void *parents = NULL, *verdicts = NULL, *measurements = NULL;
   int status = read_row(reader, number, loaded, err);
   if (status == RKB_OK)
      status = read_about(reader, RKB_SQL_GET_PARENTS, loaded, sizeof *record->parents, fill_parent, &parents,
                          &record->parent_count, err);
   if (status == RKB_OK)
      status = read_about(reader, RKB_SQL_GET_VERDICTS, loaded, sizeof *record->verdicts, fill_verdict,
                          &verdicts, &record->verdict_count, err);
   if (status == RKB_OK)
      status = read_about(reader, RKB_SQL_GET_MEASUREMENTS, loaded, sizeof *record->measurements,
                          fill_measurement, &measurements, &record->measurement_count, err);
   record->parents = parents;
   record->verdicts = verdicts;
   record->measurements = measurements;
   return status;
}

int rkb_archive_load_candidate(rkb_archive_t *archive, int64_t number, rkb_candidate_record_t **candidate,
                               rkb_error_t *err) {
   rkb_connection_t *reader;
   loaded_candidate_t *loaded;
   int status = rkb_archive_take_reader(archive, &reader, err);
   if (status != RKB_OK)
      return status;
   loaded = rkb_allocate(1, sizeof *loaded);
   loaded->keeper.arena = rkb_arena_new(RKB_RECORD_LIMIT);
   status = read_all(reader, number, loaded, err);
   rkb_archive_give_reader(archive, reader);
   if (status != RKB_OK) {
      rkb_candidate_record_free(&loaded->record);
      return status;
   }
   *candidate = &loaded->record;
   return RKB_OK;
}

void rkb_candidate_record_free(rkb_candidate_record_t *candidate) {
   loaded_candidate_t *loaded = (loaded_candidate_t *)candidate;
   if (!loaded)
      return;
   rkb_arena_free(loaded->keeper.arena);
   free(loaded);
}
