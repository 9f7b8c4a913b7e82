/* What is stored comes back; what contradicts the archive is refused and changes nothing. */
#include "check.h"
#include "sample_records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
   char *directory;
   rkb_archive_t *archive;
} fixture_t;

static int set_up(void **state) {
   rkb_error_t err;
   rkb_run_identity_t identity = sample_identity();
   fixture_t *fixture = calloc(1, sizeof *fixture);
   fixture->directory = sample_directory("records");
   *state = fixture;
   return rkb_archive_create(fixture->directory, &identity, &fixture->archive, &err);
}

static int tear_down(void **state) {
   fixture_t *fixture = *state;
   rkb_archive_close(fixture->archive);
   sample_remove(fixture->directory);
   free(fixture);
   return 0;
}

static void candidate_comes_back(void **state) {
   rkb_archive_t *archive = ((fixture_t *)*state)->archive;
   rkb_error_t err;
   sample_candidate_t sample;
   rkb_candidate_record_t *loaded = NULL;
   assert_ok(sample_put(archive, 1, &err));
   assert_ok(sample_put(archive, 2, &err));
   sample_candidate(&sample, 2);
   assert_ok(rkb_archive_load_candidate(archive, 2, &loaded, &err));
   assert_int_equal(loaded->number, 2);
   assert_int_equal(loaded->section, RKB_SECTION_SEARCH);
   assert_int_equal(loaded->request, 1);
   assert_string_equal(loaded->source, sample.source);
   assert_string_equal(loaded->hash, sample.hash);
   assert_string_equal(loaded->source_hash, sample.source_hash);
   assert_string_equal(loaded->cubin_hash, sample.hash);
   assert_string_equal(loaded->tune, "{\"BLOCK\":96}");
   assert_string_equal(loaded->note, "BLOCK 256 -> 128");
   assert_string_equal(loaded->standing, "accept");
   assert_int_equal(loaded->promotion, RKB_PROMOTION_OPEN);
   assert_true(loaded->has_objective);
   assert_true(loaded->objective == sample.record.objective);
   assert_int_equal(loaded->parent_count, 1);
   assert_int_equal(loaded->parents[0].number, 1);
   assert_string_equal(loaded->parents[0].role, "parent");
   assert_int_equal(loaded->verdict_count, SAMPLE_VERDICTS);
   for (int i = 0; i < SAMPLE_VERDICTS; i++) {
      assert_string_equal(loaded->verdicts[i].stage, sample.verdicts[i].stage);
      assert_string_equal(loaded->verdicts[i].certificate, sample.verdicts[i].certificate);
      assert_null(loaded->verdicts[i].evidence);
      assert_int_equal(loaded->verdicts[i].executes, sample.verdicts[i].executes);
      assert_true(loaded->verdicts[i].seconds == 0.25);
   }
   assert_int_equal(loaded->measurement_count, SAMPLE_MEASUREMENTS);
   assert_string_equal(loaded->measurements[5].name, "model.predicted_us");
   assert_true(loaded->measurements[5].value == 2.0 / 7);
   assert_true(loaded->measurements[5].spread == 0.5);
   assert_true(loaded->measurements[4].spread < 0);
   assert_null(loaded->measurements[5].case_name);
   rkb_candidate_record_free(loaded);
   assert_int_equal(rkb_archive_load_candidate(archive, 3, &loaded, &err), RKB_ERR_INVALID);
   assert_non_null(strstr(err.message, "no candidate 3"));
}

static int keep_request(void *argument, const rkb_request_record_t *request) {
   char *line = argument;
   snprintf(line + strlen(line), 512 - strlen(line),
            "%u/%lld state %u answer %u operator '%s' group %lld parents", request->section,
            (long long)request->number, request->state, request->answer, request->operator_id,
            (long long)request->group);
   for (uint32_t i = 0; i < request->parent_count; i++)
      snprintf(line + strlen(line), 512 - strlen(line), " %lld", (long long)request->parents[i]);
   snprintf(line + strlen(line), 512 - strlen(line), " inspirations %u hints %s\n",
            request->inspiration_count, request->hints ? request->hints : "none");
   return RKB_OK;
}

static int keep_dialogue(void *argument, const rkb_strategy_record_record_t *record) {
   char *line = argument;
   snprintf(line + strlen(line), 512 - strlen(line), "%s %u/%lld %s\n",
            record->what == RKB_DIALOGUE_ASK ? "ask" : "tell", record->section, (long long)record->request,
            record->hash);
   return RKB_OK;
}

static int stop_at_once(void *argument, const rkb_request_record_t *request) {
   (*(int *)argument)++;
   return request->number == 0 ? RKB_ERR_CANCELLED : RKB_OK;
}

static void requests_and_dialogue_come_back_in_order(void **state) {
   rkb_archive_t *archive = ((fixture_t *)*state)->archive;
   rkb_error_t err;
   char text[512] = "";
   int visited = 0;
   const int64_t parents[] = {7, 3};
   rkb_request_record_t propose = {.section = RKB_SECTION_PROPOSE,
                                   .answer = RKB_ANSWER_LISTED,
                                   .state = RKB_REQUEST_OPEN,
                                   .number = 1,
                                   .group = 0,
                                   .operator_id = "seed"};
   rkb_request_record_t search = {.section = RKB_SECTION_SEARCH,
                                  .answer = RKB_ANSWER_OK,
                                  .state = RKB_REQUEST_OPEN,
                                  .number = 0,
                                  .group = -1,
                                  .operator_id = "tune",
                                  .hints = "{}",
                                  .parent_count = 2,
                                  .parents = parents,
                                  .inspiration_count = 1,
                                  .inspirations = parents};
   rkb_request_record_t wait = {.section = RKB_SECTION_SEARCH,
                                .answer = RKB_ANSWER_WAIT,
                                .state = RKB_REQUEST_FINISHED,
                                .number = 1,
                                .group = -1};
   assert_ok(rkb_archive_put_ask(archive, &search, "h0", &err));
   assert_ok(rkb_archive_put_ask(archive, &wait, "h1", &err));
   assert_ok(rkb_archive_put_request(archive, &propose, &err));
   propose.number = 0;
   assert_ok(rkb_archive_put_request(archive, &propose, &err));
   assert_ok(rkb_archive_put_tell(archive, RKB_SECTION_PROPOSE, 0, "h2", &err));
   assert_ok(rkb_archive_each_request(archive, keep_request, text, &err));
   assert_string_equal(text,
                       "1/0 state 1 answer 1 operator 'seed' group 0 parents inspirations 0 hints none\n"
                       "1/1 state 1 answer 1 operator 'seed' group 0 parents inspirations 0 hints none\n"
                       "2/0 state 1 answer 2 operator 'tune' group -1 parents 7 3 inspirations 1 hints {}\n"
                       "2/1 state 3 answer 3 operator '' group -1 parents inspirations 0 hints none\n");
   text[0] = '\0';
   assert_ok(rkb_archive_each_dialogue(archive, keep_dialogue, text, &err));
   assert_string_equal(text, "ask 2/0 h0\nask 2/1 h1\ntell 1/0 h2\n");
   assert_int_equal(rkb_archive_each_request(archive, stop_at_once, &visited, &err), RKB_ERR_CANCELLED);
   assert_int_equal(visited, 1);
}

/* An unfinished attempt is replaced, with its candidates; a finished one never is. */
static void open_request_is_replaced(void **state) {
   rkb_archive_t *archive = ((fixture_t *)*state)->archive;
   rkb_error_t err;
   sample_candidate_t first, second;
   int64_t *numbers = NULL;
   uint32_t count = 0;
   rkb_request_record_t request = sample_request(0, RKB_REQUEST_OPEN);
   const rkb_candidate_record_t *both[] = {&first.record, &second.record};
   sample_candidate(&first, 1);
   sample_candidate(&second, 2);
   second.record.request = 0;
   second.record.child = 1;
   assert_ok(rkb_archive_put_screened(archive, &request, both, 2, &err));
   request.state = RKB_REQUEST_SCREENED;
   assert_ok(rkb_archive_put_screened(archive, &request, both, 1, &err));
   assert_ok(rkb_archive_candidates(archive, RKB_SECTION_SEARCH, 0, &numbers, &count, &err));
   assert_int_equal(count, 1);
   assert_int_equal(numbers[0], 1);
   free(numbers);
   assert_int_equal(rkb_archive_put_screened(archive, &request, both, 2, &err), RKB_ERR_INVALID);
   assert_non_null(strstr(err.message, "request 0 of search is screened already"));
   assert_ok(rkb_archive_candidates(archive, 0, 0, &numbers, &count, &err));
   assert_int_equal(count, 1);
   free(numbers);
}

static void contradictions_change_nothing(void **state) {
   rkb_archive_t *archive = ((fixture_t *)*state)->archive;
   rkb_error_t err;
   sample_candidate_t sample;
   rkb_archive_counts_t before, after;
   rkb_request_record_t request = sample_request(1, RKB_REQUEST_FINISHED);
   const rkb_candidate_record_t *candidates[] = {&sample.record};
   const int64_t members[] = {1, 99};
   assert_ok(sample_put(archive, 1, &err));
   assert_ok(rkb_archive_count(archive, &before, &err));
   sample_candidate(&sample, 1); /* the number is taken */
   sample.record.request = 1;
   assert_int_equal(rkb_archive_put_screened(archive, &request, candidates, 1, &err), RKB_ERR_INVALID);
   sample_candidate(&sample, 5); /* its request does not exist */
   assert_int_equal(rkb_archive_put_candidate(archive, &sample.record, &err), RKB_ERR_INVALID);
   assert_int_equal(rkb_archive_put_group(archive, RKB_SECTION_SEARCH, 0, members, 2, members, 1, &err),
                    RKB_ERR_INVALID);
   rkb_result_record_t result = {.candidate = 99, .standing = "reject", .reason = "race.shared"};
   assert_int_equal(rkb_archive_put_result(archive, &result, &err), RKB_ERR_INVALID);
   assert_non_null(strstr(err.message, "no candidate 99"));
   assert_ok(rkb_archive_count(archive, &after, &err));
   assert_memory_equal(&before, &after, sizeof before);
   assert_ok(sample_put(archive, 2, &err));
}

static void results_and_groups_update_a_candidate(void **state) {
   rkb_archive_t *archive = ((fixture_t *)*state)->archive;
   rkb_error_t err;
   rkb_candidate_record_t *loaded = NULL;
   rkb_archive_counts_t counts;
   const int64_t members[] = {1, 2, 3}, passed[] = {2};
   const rkb_verdict_record_t verdict = {.stage = "gpu",
                                         .standing = "reject",
                                         .reason = "nondeterministic",
                                         .message = "two runs differ",
                                         .evidence = "{\"element\":3}",
                                         .attempts = 2,
                                         .seconds = -1};
   const rkb_measurement_record_t measurement = {.name = "time.us",
                                                 .value = 4.5,
                                                 .spread = 0.25,
                                                 .unit = "us",
                                                 .better = "lower",
                                                 .method = "measured",
                                                 .case_name = "bench/0"};
   const rkb_result_record_t result = {.candidate = 2,
                                       .standing = "reject",
                                       .reason = "nondeterministic",
                                       .has_objective = true,
                                       .objective = 4.5,
                                       .verdict_count = 1,
                                       .verdicts = &verdict,
                                       .measurement_count = 1,
                                       .measurements = &measurement};
   for (int64_t i = 1; i <= 3; i++)
      assert_ok(sample_put(archive, i, &err));
   assert_ok(rkb_archive_put_group(archive, RKB_SECTION_SEARCH, 0, members, 3, passed, 1, &err));
   assert_ok(rkb_archive_put_result(archive, &result, &err));
   assert_ok(rkb_archive_load_candidate(archive, 2, &loaded, &err));
   assert_int_equal(loaded->promotion, RKB_PROMOTION_PASSED);
   assert_string_equal(loaded->standing, "reject");
   assert_true(loaded->objective == 4.5);
   assert_int_equal(loaded->verdict_count, SAMPLE_VERDICTS + 1);
   assert_string_equal(loaded->verdicts[SAMPLE_VERDICTS].stage, "gpu");
   assert_string_equal(loaded->verdicts[SAMPLE_VERDICTS].evidence, "{\"element\":3}");
   assert_true(loaded->verdicts[SAMPLE_VERDICTS].seconds < 0);
   assert_string_equal(loaded->measurements[SAMPLE_MEASUREMENTS].case_name, "bench/0");
   rkb_candidate_record_free(loaded);
   assert_ok(rkb_archive_count(archive, &counts, &err));
   assert_int_equal(counts.candidates, 3);
   assert_int_equal(counts.accepted, 2);
   assert_int_equal(counts.rejected, 1);
   assert_int_equal(counts.promoted, 1);
}

static void long_texts_are_cut_and_marked(void **state) {
   rkb_archive_t *archive = ((fixture_t *)*state)->archive;
   rkb_error_t err;
   sample_candidate_t sample;
   rkb_candidate_record_t *loaded = NULL;
   rkb_request_record_t request = sample_request(0, RKB_REQUEST_FINISHED);
   const rkb_candidate_record_t *candidates[] = {&sample.record};
   size_t length = RKB_ARCHIVE_MAX_TEXT + 1000;
   char *text = malloc(length + 1);
   memset(text, 'a', length);
   text[length] = '\0';
   /* A character of two bytes across the ceiling is left out whole. */
   text[RKB_ARCHIVE_MAX_TEXT - 1] = '\xc3';
   text[RKB_ARCHIVE_MAX_TEXT] = '\xa9';
   sample_candidate(&sample, 1);
   sample.verdicts[0].message = text;
   sample.verdicts[0].evidence = text;
   assert_ok(rkb_archive_put_screened(archive, &request, candidates, 1, &err));
   assert_ok(rkb_archive_load_candidate(archive, 1, &loaded, &err));
   assert_non_null(strstr(loaded->verdicts[0].message, "a\n[cut: 1001 of 263144 bytes]"));
   assert_string_equal(loaded->verdicts[0].evidence, "{\"bytes\":263144,\"cut\":true}");
   rkb_candidate_record_free(loaded);
   sample_candidate(&sample, 2);
   request.number = 1;
   sample.record.source = text;
   assert_int_equal(rkb_archive_put_screened(archive, &request, candidates, 1, &err), RKB_ERR_LIMIT);
   free(text);
}

static void calls_keep_the_ledger(void **state) {
   rkb_archive_t *archive = ((fixture_t *)*state)->archive;
   rkb_error_t err;
   int64_t first = 0, second = 0;
   double usd = -1;
   bool found = true;
   char *reply = NULL;
   rkb_call_record_t call = {.section = RKB_SECTION_SEARCH,
                             .request = 4,
                             .stage = "llm",
                             .model = "small",
                             .prompt = "write a kernel",
                             .reserved_usd = 0.5,
                             .temperature = NAN};
   assert_ok(rkb_archive_reserve_call(archive, &call, &first, &err));
   call.child = 1;
   assert_ok(rkb_archive_reserve_call(archive, &call, &second, &err));
   assert_ok(rkb_archive_cost(archive, &usd, &err));
   assert_true(usd == 1.0);
   assert_ok(rkb_archive_find_reply(archive, RKB_SECTION_SEARCH, 4, "llm", 0, &found, &reply, &err));
   assert_false(found);
   call.state = "finished";
   call.reply = "__global__";
   call.cost_usd = 0.125;
   call.input_tokens = 10;
   call.cached_tokens = -1;
   call.output_tokens = 20;
   call.seconds = 1.5;
   assert_ok(rkb_archive_finish_call(archive, first, &call, &err));
   assert_ok(rkb_archive_cost(archive, &usd, &err));
   assert_true(usd == 0.625);
   assert_ok(rkb_archive_find_reply(archive, RKB_SECTION_SEARCH, 4, "llm", 0, &found, &reply, &err));
   assert_true(found);
   assert_string_equal(reply, "__global__");
   free(reply);
   assert_int_equal(rkb_archive_finish_call(archive, first, &call, &err), RKB_ERR_INVALID);
   assert_ok(rkb_archive_put_event(archive, RKB_LOG_WARN, "engine", "resumed", 0, "goes on", NULL, &err));
}

static void facts_are_kept(void **state) {
   rkb_archive_t *archive = ((fixture_t *)*state)->archive;
   rkb_error_t err;
   char *value = rkb_archive_get_fact(archive, "seed");
   assert_string_equal(value, "18446744073709551615");
   free(value);
   assert_null(rkb_archive_get_fact(archive, "ended"));
   assert_ok(rkb_archive_set_fact(archive, "ended", "found", &err));
   assert_ok(rkb_archive_set_fact(archive, "ended", "exhausted", &err));
   value = rkb_archive_get_fact(archive, "ended");
   assert_string_equal(value, "exhausted");
   free(value);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(candidate_comes_back, set_up, tear_down),
      cmocka_unit_test_setup_teardown(requests_and_dialogue_come_back_in_order, set_up, tear_down),
      cmocka_unit_test_setup_teardown(open_request_is_replaced, set_up, tear_down),
      cmocka_unit_test_setup_teardown(contradictions_change_nothing, set_up, tear_down),
      cmocka_unit_test_setup_teardown(results_and_groups_update_a_candidate, set_up, tear_down),
      cmocka_unit_test_setup_teardown(long_texts_are_cut_and_marked, set_up, tear_down),
      cmocka_unit_test_setup_teardown(calls_keep_the_ledger, set_up, tear_down),
      cmocka_unit_test_setup_teardown(facts_are_kept, set_up, tear_down),
   };
   return RUN_TESTS(tests);
}
