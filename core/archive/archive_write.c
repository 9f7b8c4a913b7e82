/* Stores requests, candidates and results.  Each public function is one transaction.  [any], under the write mutex. */
#include "archive/archive_internal.h"

#include <string.h>

static int put_inputs(rkb_connection_t *writer, int64_t key, const char *role, const int64_t *candidates,
                      uint32_t count, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t i = 0; status == RKB_OK && i < count; i++) {
      rkb_statement_t statement = rkb_statement_begin(writer, RKB_SQL_PUT_REQUEST_INPUT);
      rkb_bind_int(&statement, key);
      rkb_bind_text(&statement, role);
      rkb_bind_int(&statement, i);
      rkb_bind_int(&statement, candidates[i]);
      status = rkb_statement_finish(&statement, err);
   }
   return status;
}

static int run_with_key(rkb_connection_t *writer, enum rkb_sql which, int64_t key, rkb_error_t *err) {
   rkb_statement_t statement = rkb_statement_begin(writer, which);
   rkb_bind_int(&statement, key);
   return rkb_statement_finish(&statement, err);
}

static int put_request(rkb_connection_t *writer, const rkb_request_record_t *request, rkb_error_t *err) {
   int64_t key = rkb_request_key(request->section, request->number);
   rkb_kept_t kept = {.count = 0};
   int status;
   rkb_statement_t statement = rkb_statement_begin(writer, RKB_SQL_PUT_REQUEST);
   rkb_bind_int(&statement, key);
   rkb_bind_text(&statement, rkb_section_name(request->section));
   rkb_bind_int(&statement, request->number);
   rkb_bind_text(&statement, request->operator_id ? request->operator_id : "");
   rkb_bind_text(&statement, rkb_answer_name(request->answer));
   rkb_bind_text(&statement, rkb_state_name(request->state));
   rkb_bind_int_or_null(&statement, request->group >= 0, request->group);
   rkb_bind_text(&statement, request->hints);
   rkb_bind_cut_text(&statement, &kept, request->failure, RKB_ARCHIVE_MAX_TEXT);
   status = rkb_statement_finish(&statement, err);
   rkb_kept_free(&kept);
   if (status == RKB_OK)
      status = run_with_key(writer, RKB_SQL_CLEAR_REQUEST_INPUTS, key, err);
   if (status == RKB_OK)
      status = put_inputs(writer, key, "parent", request->parents, request->parent_count, err);
   if (status == RKB_OK)
      status = put_inputs(writer, key, "inspiration", request->inspirations, request->inspiration_count, err);
   return status;
}

static int put_source(rkb_connection_t *writer, const char *hash, const char *text, rkb_error_t *err) {
   rkb_statement_t statement;
   if (strlen(text) > RKB_ARCHIVE_MAX_TEXT)
      return rkb_fail(err, RKB_ERR_LIMIT, "archive: a source of %zu bytes is over the limit of %u",
                      strlen(text), RKB_ARCHIVE_MAX_TEXT);
   statement = rkb_statement_begin(writer, RKB_SQL_PUT_SOURCE);
   rkb_bind_text(&statement, hash);
   rkb_bind_text(&statement, text);
   return rkb_statement_finish(&statement, err);
}

static int put_candidate_row(rkb_connection_t *writer, const rkb_candidate_record_t *candidate,
                             rkb_error_t *err) {
   rkb_kept_t kept = {.count = 0};
   int status;
   rkb_statement_t statement = rkb_statement_begin(writer, RKB_SQL_PUT_CANDIDATE);
   rkb_bind_int(&statement, candidate->number);
   rkb_bind_int(&statement, rkb_request_key(candidate->section, candidate->request));
   rkb_bind_int(&statement, candidate->child);
   rkb_bind_text(&statement, candidate->hash);
   rkb_bind_text(&statement, candidate->source_hash);
   rkb_bind_text(&statement, candidate->tune);
   rkb_bind_text(&statement, candidate->operator_id);
   rkb_bind_text(&statement, candidate->task);
   rkb_bind_text(&statement, candidate->direction);
   rkb_bind_text(&statement, candidate->standing ? candidate->standing : "none");
   rkb_bind_text(&statement, candidate->reason ? candidate->reason : "");
   rkb_bind_int_or_null(&statement, candidate->duplicate_of != 0, candidate->duplicate_of);
   rkb_bind_text(&statement, rkb_promotion_name(candidate->promotion));
   rkb_bind_real_or_null(&statement, candidate->has_objective, candidate->objective);
   rkb_bind_text(&statement, candidate->token_hash);
   rkb_bind_text(&statement, candidate->ptx_hash);
   rkb_bind_text(&statement, candidate->plan_hash);
   rkb_bind_text(&statement, candidate->cubin_hash);
   rkb_bind_cut_text(&statement, &kept, candidate->note, RKB_ARCHIVE_MAX_TEXT);
   rkb_bind_int(&statement, rkb_wall_clock_ms());
   status = rkb_statement_finish(&statement, err);
   rkb_kept_free(&kept);
   return status;
}

static int put_verdict(rkb_connection_t *writer, int64_t candidate, const rkb_verdict_record_t *verdict,
                       rkb_error_t *err) {
   rkb_kept_t kept = {.count = 0};
   int status;
   rkb_statement_t statement = rkb_statement_begin(writer, RKB_SQL_PUT_VERDICT);
   rkb_bind_int(&statement, candidate);
   rkb_bind_text(&statement, verdict->stage);
   rkb_bind_text(&statement, verdict->standing);
   rkb_bind_text(&statement, verdict->reason ? verdict->reason : "");
   rkb_bind_cut_text(&statement, &kept, verdict->message ? verdict->message : "", RKB_ARCHIVE_MAX_TEXT);
   rkb_bind_cut_json(&statement, &kept, verdict->evidence, RKB_ARCHIVE_MAX_TEXT);
   rkb_bind_cut_json(&statement, &kept, verdict->certificate, RKB_ARCHIVE_MAX_TEXT);
   rkb_bind_int(&statement, verdict->shadow);
   rkb_bind_int(&statement, verdict->executes);
   rkb_bind_int(&statement, verdict->reproducible);
   rkb_bind_int(&statement, verdict->attempts);
   rkb_bind_real_or_null(&statement, verdict->seconds >= 0, verdict->seconds);
   status = rkb_statement_finish(&statement, err);
   rkb_kept_free(&kept);
   return status;
}

static int put_measurement(rkb_connection_t *writer, int64_t candidate,
                           const rkb_measurement_record_t *measurement, rkb_error_t *err) {
   rkb_kept_t kept = {.count = 0};
   int status;
   rkb_statement_t statement = rkb_statement_begin(writer, RKB_SQL_PUT_MEASUREMENT);
   rkb_bind_int(&statement, candidate);
   rkb_bind_text(&statement, measurement->name);
   rkb_bind_text(&statement, measurement->case_name ? measurement->case_name : "");
   rkb_bind_real(&statement, measurement->value);
   rkb_bind_text(&statement, measurement->unit ? measurement->unit : "");
   rkb_bind_text(&statement, measurement->better ? measurement->better : "");
   rkb_bind_real_or_null(&statement, measurement->spread >= 0, measurement->spread);
   rkb_bind_text(&statement, measurement->method ? measurement->method : "");
   rkb_bind_cut_json(&statement, &kept, measurement->detail, RKB_ARCHIVE_MAX_TEXT);
   rkb_bind_int(&statement, measurement->shadow);
   rkb_bind_int(&statement, measurement->reproducible);
   status = rkb_statement_finish(&statement, err);
   rkb_kept_free(&kept);
   return status;
}

static int put_findings(rkb_connection_t *writer, int64_t candidate, const rkb_verdict_record_t *verdicts,
                        uint32_t verdict_count, const rkb_measurement_record_t *measurements,
                        uint32_t measurement_count, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t i = 0; status == RKB_OK && i < verdict_count; i++)
      status = put_verdict(writer, candidate, &verdicts[i], err);
   for (uint32_t i = 0; status == RKB_OK && i < measurement_count; i++)
      status = put_measurement(writer, candidate, &measurements[i], err);
   return status;
}

static int put_parents(rkb_connection_t *writer, const rkb_candidate_record_t *candidate, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t i = 0; status == RKB_OK && i < candidate->parent_count; i++) {
      rkb_statement_t statement = rkb_statement_begin(writer, RKB_SQL_PUT_PARENT);
      rkb_bind_int(&statement, candidate->number);
      rkb_bind_int(&statement, i);
      rkb_bind_int(&statement, candidate->parents[i].number);
      rkb_bind_text(&statement, candidate->parents[i].role);
      status = rkb_statement_finish(&statement, err);
   }
   return status;
}

static int put_candidate(rkb_connection_t *writer, const rkb_candidate_record_t *candidate,
                         rkb_error_t *err) {
   int status = put_source(writer, candidate->source_hash, candidate->source, err);
   if (status == RKB_OK)
      status = put_candidate_row(writer, candidate, err);
   if (status == RKB_OK)
      status = put_parents(writer, candidate, err);
   if (status == RKB_OK)
      status = put_findings(writer, candidate->number, candidate->verdicts, candidate->verdict_count,
                            candidate->measurements, candidate->measurement_count, err);
   return status;
}

/* Deletes the candidates that an interrupted attempt at a request left. */
static int clear_candidates(rkb_connection_t *writer, int64_t key, rkb_error_t *err) {
   static const enum rkb_sql steps[] = {RKB_SQL_CLEAR_MEASUREMENTS, RKB_SQL_CLEAR_VERDICTS,
                                        RKB_SQL_CLEAR_PARENTS, RKB_SQL_CLEAR_CANDIDATES};
   int status = RKB_OK;
   for (size_t i = 0; status == RKB_OK && i < sizeof steps / sizeof steps[0]; i++)
      status = run_with_key(writer, steps[i], key, err);
   return status;
}

/* Refuses to replace a screened or finished request: finished work is never done again. */
static int check_open(rkb_connection_t *writer, int64_t key, rkb_error_t *err) {
   char state[16] = "open";
   int row;
   rkb_statement_t statement = rkb_statement_begin(writer, RKB_SQL_GET_REQUEST_STATE);
   rkb_bind_int(&statement, key);
   row = rkb_statement_row(&statement, err);
   if (row < 0)
      return row;
   if (row == 1) {
      snprintf(state, sizeof state, "%s", rkb_column_text(&statement, 0));
      rkb_statement_reset(&statement);
   }
   if (rkb_state_parse(state) == RKB_REQUEST_OPEN)
      return RKB_OK;
   return rkb_fail(err, RKB_ERR_INVALID, "archive: request %lld of %s is %s already",
                   (long long)rkb_request_key_number(key), rkb_section_name(rkb_request_key_section(key)),
                   state);
}

/* Ends a transaction that wrote to a request, as rkb_archive_end does.  If the write changed rows that are kept in memory, those are no longer used. */
static int end_request(rkb_archive_t *archive, int64_t key, int status, rkb_error_t *err) {
   const int ended = rkb_archive_end(archive, status, err);
   rkb_shared_rows_request_changed(archive->shared, key);
   return ended;
}

int rkb_archive_put_request(rkb_archive_t *archive, const rkb_request_record_t *request, rkb_error_t *err) {
   const int64_t key = rkb_request_key(request->section, request->number);
   int status = rkb_archive_begin(archive, err);
   if (status != RKB_OK)
      return status;
   status = check_open(archive->writer, key, err);
   if (status == RKB_OK)
      status = put_request(archive->writer, request, err);
   return end_request(archive, key, status, err);
}

int rkb_archive_put_screened(rkb_archive_t *archive, const rkb_request_record_t *request,
                             const rkb_candidate_record_t *const *candidates, uint32_t count,
                             rkb_error_t *err) {
   int64_t key = rkb_request_key(request->section, request->number);
   int status = rkb_archive_begin(archive, err);
   if (status != RKB_OK)
      return status;
   status = check_open(archive->writer, key, err);
   if (status == RKB_OK)
      status = put_request(archive->writer, request, err);
   if (status == RKB_OK)
      status = clear_candidates(archive->writer, key, err);
   for (uint32_t i = 0; status == RKB_OK && i < count; i++)
      status = put_candidate(archive->writer, candidates[i], err);
   return end_request(archive, key, status, err);
}

int rkb_archive_put_candidate(rkb_archive_t *archive, const rkb_candidate_record_t *candidate,
                              rkb_error_t *err) {
   int status = rkb_archive_begin(archive, err);
   if (status != RKB_OK)
      return status;
   return end_request(archive, rkb_request_key(candidate->section, candidate->request), put_candidate(archive->writer, candidate, err), err);
}

static int check_changed(rkb_connection_t *writer, const char *what, int64_t number, rkb_error_t *err) {
   if (sqlite3_changes(writer->database) == 1)
      return RKB_OK;
   return rkb_fail(err, RKB_ERR_INVALID, "archive: there is no %s %lld", what, (long long)number);
}

int rkb_archive_put_result(rkb_archive_t *archive, const rkb_result_record_t *result, rkb_error_t *err) {
   rkb_statement_t statement;
   int status = rkb_archive_begin(archive, err);
   if (status != RKB_OK)
      return status;
   statement = rkb_statement_begin(archive->writer, RKB_SQL_SET_CANDIDATE);
   rkb_bind_text(&statement, result->standing);
   rkb_bind_text(&statement, result->standing ? (result->reason ? result->reason : "") : NULL);
   rkb_bind_real_or_null(&statement, result->has_objective, result->objective);
   rkb_bind_int(&statement, result->candidate);
   status = rkb_statement_finish(&statement, err);
   if (status == RKB_OK)
      status = check_changed(archive->writer, "candidate", result->candidate, err);
   if (status == RKB_OK)
      status = put_findings(archive->writer, result->candidate, result->verdicts, result->verdict_count,
                            result->measurements, result->measurement_count, err);
   status = rkb_archive_end(archive, status, err);
   rkb_shared_rows_candidate_changed(archive->shared, result->candidate);
   return status;
}

int rkb_archive_set_request_state(rkb_archive_t *archive, uint32_t section, int64_t number, uint32_t state,
                                  rkb_error_t *err) {
   rkb_statement_t statement;
   int status = rkb_archive_begin(archive, err);
   if (status != RKB_OK)
      return status;
   statement = rkb_statement_begin(archive->writer, RKB_SQL_SET_REQUEST_STATE);
   rkb_bind_text(&statement, rkb_state_name(state));
   rkb_bind_int(&statement, rkb_request_key(section, number));
   status = rkb_statement_finish(&statement, err);
   if (status == RKB_OK)
      status = check_changed(archive->writer, "request", number, err);
   return end_request(archive, rkb_request_key(section, number), status, err);
}

static bool contains(const int64_t *numbers, uint32_t count, int64_t number) {
   for (uint32_t i = 0; i < count; i++)
      if (numbers[i] == number)
         return true;
   return false;
}

int rkb_archive_put_group(rkb_archive_t *archive, uint32_t section, int64_t group, const int64_t *members,
                          uint32_t member_count, const int64_t *passed, uint32_t passed_count,
                          rkb_error_t *err) {
   rkb_statement_t statement;
   int status = rkb_archive_begin(archive, err);
   if (status != RKB_OK)
      return status;
   statement = rkb_statement_begin(archive->writer, RKB_SQL_PUT_PROMOTION);
   rkb_bind_text(&statement, rkb_section_name(section));
   rkb_bind_int(&statement, group);
   rkb_bind_int(&statement, member_count);
   rkb_bind_int(&statement, passed_count);
   status = rkb_statement_finish(&statement, err);
   for (uint32_t i = 0; status == RKB_OK && i < member_count; i++) {
      bool has_passed = contains(passed, passed_count, members[i]);
      statement = rkb_statement_begin(archive->writer, RKB_SQL_SET_PROMOTION);
      rkb_bind_text(&statement, rkb_promotion_name(has_passed ? RKB_PROMOTION_PASSED : RKB_PROMOTION_NOT));
      rkb_bind_int(&statement, members[i]);
      status = rkb_statement_finish(&statement, err);
      if (status == RKB_OK)
         status = check_changed(archive->writer, "candidate", members[i], err);
   }
   return rkb_archive_end(archive, status, err);
}

static int put_dialogue(rkb_connection_t *writer, uint32_t what, int64_t key, const char *hash,
                        rkb_error_t *err) {
   rkb_statement_t statement = rkb_statement_begin(writer, RKB_SQL_PUT_DIALOGUE);
   rkb_bind_text(&statement, rkb_strategy_record_name(what));
   rkb_bind_int(&statement, key);
   rkb_bind_text(&statement, hash);
   return rkb_statement_finish(&statement, err);
}

int rkb_archive_put_ask(rkb_archive_t *archive, const rkb_request_record_t *request, const char *hash,
                        rkb_error_t *err) {
   return rkb_archive_put_turn(archive, NULL, request, hash, err);
}

int rkb_archive_put_turn(rkb_archive_t *archive, const rkb_strategy_record_record_t *told,
                         const rkb_request_record_t *request, const char *hash, rkb_error_t *err) {
   int64_t key = rkb_request_key(request->section, request->number);
   int status = rkb_archive_begin(archive, err);
   if (status != RKB_OK)
      return status;
   if (told)
      status = put_dialogue(archive->writer, RKB_DIALOGUE_TELL, rkb_request_key(told->section, told->request),
                            told->hash, err);
   if (status == RKB_OK)
      status = check_open(archive->writer, key, err);
   if (status == RKB_OK)
      status = put_request(archive->writer, request, err);
   if (status == RKB_OK)
      status = put_dialogue(archive->writer, RKB_DIALOGUE_ASK, key, hash, err);
   return end_request(archive, key, status, err);
}

int rkb_archive_put_tell(rkb_archive_t *archive, uint32_t section, int64_t request, const char *hash,
                         rkb_error_t *err) {
   int64_t key = rkb_request_key(section, request);
   int status = rkb_archive_begin(archive, err);
   if (status != RKB_OK)
      return status;
   return rkb_archive_end(archive, put_dialogue(archive->writer, RKB_DIALOGUE_TELL, key, hash, err), err);
}
