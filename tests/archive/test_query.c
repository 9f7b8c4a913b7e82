/* Windowed reads: a request sees propose and what is finished up to its horizon, never more. */
#include "check.h"
#include "sample_records.h"

#include <string.h>

typedef struct entry {
   uint32_t section, state;
   int64_t request, number;
   const char *standing, *reason, *operator_id;
   double objective; /* negative: none */
} entry_t;

/* In the order in which they are stored, which is not the order of their numbers. */
static const entry_t entries[] = {
   {RKB_SECTION_SEARCH, RKB_REQUEST_FINISHED, 2, 5, "accept", "", "tune", 4},
   {RKB_SECTION_PROPOSE, RKB_REQUEST_FINISHED, 0, 1, "accept", "", "seed", 9},
   {RKB_SECTION_PROPOSE, RKB_REQUEST_FINISHED, 1, 2, "reject", "race.shared", "seed", 1},
   {RKB_SECTION_SEARCH, RKB_REQUEST_FINISHED, 0, 3, "suspect", "numeric.precision", "tune", 2},
   {RKB_SECTION_SEARCH, RKB_REQUEST_SCREENED, 3, 6, "accept", "", "tune", 1},
   {RKB_SECTION_SEARCH, RKB_REQUEST_FINISHED, 1, 4, "unknown", "unsupported.opcode", "cross", 3},
   {RKB_SECTION_SEARCH, RKB_REQUEST_FINISHED, 4, 7, "accept", "", "tune", -1},
};

static void put_entry(rkb_archive_t *archive, const entry_t *entry) {
   rkb_error_t err;
   sample_candidate_t sample;
   rkb_request_record_t request = sample_request(entry->request, entry->state);
   const rkb_candidate_record_t *candidates[] = {&sample.record};
   sample_candidate(&sample, entry->number);
   request.section = sample.record.section = entry->section;
   sample.record.request = entry->request;
   sample.record.standing = sample.verdicts[2].standing = entry->standing;
   sample.record.reason = sample.verdicts[2].reason = entry->reason;
   sample.verdicts[2].message = "it decided";
   sample.record.operator_id = entry->operator_id;
   sample.record.has_objective = entry->objective >= 0;
   sample.record.objective = entry->objective;
   assert_ok(rkb_archive_put_screened(archive, &request, candidates, 1, &err));
}

typedef struct query_case {
   int64_t horizon;
   rkb_archive_query_t query;
   const char *expected; /* numbers */
} query_case_t;

#define BY_NUMBER .size = sizeof(rkb_archive_query_t), .order = RKB_ARCHIVE_BY_NUMBER
#define BY_OBJECTIVE .size = sizeof(rkb_archive_query_t), .order = RKB_ARCHIVE_BY_OBJECTIVE

static const query_case_t cases[] = {
   {-1, {BY_NUMBER, .limit = 10}, "1 2"},
   {-16, {BY_NUMBER, .limit = 10}, "1 2"}, /* the first window of a search sees propose all the same */
   {0, {BY_NUMBER, .limit = 10}, "1 2 3"},
   {2, {BY_NUMBER, .limit = 10}, "1 2 3 4 5"},
   {9, {BY_NUMBER, .limit = 10}, "1 2 3 4 5 7"}, /* 6 is not finished */
   {9, {BY_NUMBER, .limit = 2}, "1 2"},
   {9, {BY_NUMBER, .limit = 10, .operator_id = "tune"}, "3 5 7"},
   {9, {BY_NUMBER, .limit = 10, .standing = "reject"}, "2"},
   {9, {BY_NUMBER, .limit = 10, .source_hash = "no such source"}, ""},
   {9, {BY_NUMBER, .limit = 10, .parent = 3}, "4"}, /* of the samples each is the parent of the next */
   {0, {BY_NUMBER, .limit = 10, .parent = 3}, ""},
   {9, {BY_OBJECTIVE, .limit = 10, .parent = 2}, "3"},
   {9, {BY_OBJECTIVE, .limit = 10}, "5 1 3 4"},
   {1, {BY_OBJECTIVE, .limit = 10}, "1 3 4"},
   {9, {BY_OBJECTIVE, .limit = 1}, "5"},
};

static void only_the_window_is_seen(void **state) {
   rkb_error_t err;
   rkb_run_identity_t identity = sample_identity();
   rkb_archive_t *archive = NULL;
   char *directory = sample_directory("query");
   (void)state;
   assert_ok(rkb_archive_create(directory, &identity, &archive, &err));
   for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
      put_entry(archive, &entries[i]);
   for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      char got[128] = "";
      rkb_archive_rows_t *rows = NULL;
      assert_ok(rkb_archive_query(archive, cases[i].horizon, &cases[i].query, &rows, &err));
      for (uint32_t row = 0; row < rkb_archive_rows_count(rows); row++)
         snprintf(got + strlen(got), sizeof got - strlen(got), "%s%lld", row ? " " : "",
                  (long long)rkb_archive_rows_at(rows, row)->number);
      assert_null(rkb_archive_rows_at(rows, rkb_archive_rows_count(rows)));
      rkb_archive_rows_free(rows);
      if (strcmp(got, cases[i].expected) != 0)
         fail_msg("case %zu: wanted '%s', got '%s'", i, cases[i].expected, got);
   }
   rkb_archive_close(archive);
   sample_remove(directory);
}

static void rows_tell_what_decided(void **state) {
   rkb_error_t err;
   rkb_run_identity_t identity = sample_identity();
   rkb_archive_t *archive = NULL;
   rkb_archive_rows_t *rows = NULL;
   const rkb_archive_row_t *row;
   const rkb_archive_query_t query = {BY_NUMBER, .limit = 1};
   rkb_archive_query_t wrong = query;
   bool found = false;
   double value = 0;
   char detail[8] = "old";
   rkb_archive_measured_list_t *measured = NULL;
   char *directory = sample_directory("rows");
   (void)state;
   assert_ok(rkb_archive_create(directory, &identity, &archive, &err));
   put_entry(archive, &entries[3]);
   assert_ok(rkb_archive_query(archive, 0, &query, &rows, &err));
   row = rkb_archive_rows_at(rows, 0);
   assert_string_equal(row->reason, "numeric.precision");
   assert_string_equal(row->message, "it decided");
   assert_null(row->evidence);
   assert_true(row->has_objective);
   assert_int_equal(strlen(row->source), SAMPLE_SOURCE);
   rkb_archive_rows_free(rows);
   assert_ok(rkb_archive_measurement(archive, 0, 3, "model.predicted_us", &found, &value, detail,
                                     sizeof detail, &err));
   assert_true(found);
   assert_true(value == 3.0 / 7);
   assert_string_equal(detail, "");
   assert_ok(rkb_archive_measurement(archive, -1, 3, "model.predicted_us", &found, &value, NULL, 0, &err));
   assert_false(found);
   assert_ok(rkb_archive_measured(archive, 0, 3, &measured, &err));
   assert_int_equal(rkb_archive_measured_count(measured), SAMPLE_MEASUREMENTS);
   assert_string_equal(rkb_archive_measured_at(measured, 0)->name, "build.registers");
   assert_string_equal(rkb_archive_measured_at(measured, 5)->name, "model.predicted_us");
   assert_true(rkb_archive_measured_at(measured, 5)->value == value);
   assert_null(rkb_archive_measured_at(measured, 5)->case_name);
   assert_null(rkb_archive_measured_at(measured, SAMPLE_MEASUREMENTS));
   rkb_archive_measured_free(measured);
   assert_ok(rkb_archive_measured(archive, -1, 3, &measured, &err));
   assert_int_equal(rkb_archive_measured_count(measured), 0);
   rkb_archive_measured_free(measured);
   wrong.limit = 0;
   assert_int_equal(rkb_archive_query(archive, 0, &wrong, &rows, &err), RKB_ERR_INVALID);
   wrong.limit = 5000;
   assert_int_equal(rkb_archive_query(archive, 0, &wrong, &rows, &err), RKB_ERR_INVALID);
   wrong = query;
   wrong.size = 4;
   assert_int_equal(rkb_archive_query(archive, 0, &wrong, &rows, &err), RKB_ERR_CONTRACT);
   rkb_archive_close(archive);
   sample_remove(directory);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(only_the_window_is_seen),
                                      cmocka_unit_test(rows_tell_what_decided)};
   return RUN_TESTS(tests);
}
