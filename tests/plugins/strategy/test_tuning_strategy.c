/* rkb.strategy.tune: finds the best assignment of each source in few requests, and says the same when told the same. */
#include "strategy_fixture.h"
#include <jansson.h>
#include <math.h>
#include <string.h>

enum { WINDOW = 4, REQUESTS = 48 };

static const rkb_operator_t OPERATORS[] = {{"assign", "rkb.mutator.tune", 1, RKB_MUTATOR, 0}};
static const rkb_setup_t SETUP = {
   .size = sizeof SETUP, .window = WINDOW, .operators = OPERATORS, .operator_count = 1, .objective = "model.us"};
static const char SPACE[] = "{\"TILE\":[1,2,4,8,16,32],\"BLOCK\":[32,64,128,256,512,1024],\"UNROLL\":[0,1,2,3,4,5]}";

/* Least at TILE 4, BLOCK 256, UNROLL 3; 0: rejected. */
static double cost_of(const char *tune) {
   int tile, block, unroll;
   assert_int_equal(sscanf(tune, "{\"TILE\": %d, \"BLOCK\": %d, \"UNROLL\": %d}", &tile, &block, &unroll), 3);
   if (tile * block > 8192)
      return 0;
   return 10 * exp(0.1 * pow(log2(tile) - 2, 2) + 0.1 * pow(log2(block) - 8, 2) + 0.1 * abs(unroll - 3));
}

static void tell_tuned(fake_t *fake, int64_t request, int64_t number, const char *hash, const char *tune,
                       const char *space) {
   double cost = cost_of(tune);
   const rkb_told_t told = {.size = sizeof told,
                            .number = number,
                            .standing = cost > 0 ? "accept" : "reject",
                            .reason = "",
                            .promoted = true,
                            .has_objective = cost > 0,
                            .objective = cost,
                            .source_hash = hash,
                            .tune = tune,
                            .tune_space = space};
   const rkb_told_t *const list[] = {&told};
   const rkb_result_t result = {
      .size = sizeof result, .candidate_count = 1, .request = request, .operator_id = "assign", .candidates = list};
   assert_int_equal(fake->strategy->tell(fake->self, &result, &fake->error), RKB_OK);
}

/* The assignment in {"tune": {...}}. */
static const char *asked_tune(const rkb_request_t *request, char out[200]) {
   static const char head[] = "{\"tune\": ";
   size_t length = strlen(request->hints);
   json_t *object = json_loads(request->hints, 0, NULL);
   assert_non_null(json_object_get(object, "tune"));
   json_decref(object);
   assert_memory_equal(request->hints, head, sizeof head - 1);
   snprintf(out, 200, "%.*s", (int)(length - sizeof head), request->hints + sizeof head - 1);
   return out;
}

/* Two sources: requests of one go to its own number.  Returns the least cost; the transcript is kept. */
static double search(char transcript[REQUESTS][200], int64_t parents[REQUESTS]) {
   fake_t fake;
   rkb_request_t request;
   double best = INFINITY;
   fake_open(&fake, "strategy/tune");
   fake_start_strategy(&fake, NULL, &SETUP);
   tell_tuned(&fake, -3, 1, "one", "{\"TILE\": 1, \"BLOCK\": 32, \"UNROLL\": 0}", SPACE);
   tell_tuned(&fake, -2, 2, "two", "{\"TILE\": 1, \"BLOCK\": 32, \"UNROLL\": 0}", SPACE);
   tell_tuned(&fake, -1, 3, "no space", "{\"TILE\": 1, \"BLOCK\": 32, \"UNROLL\": 0}", "{}");
   for (int i = 0; i < REQUESTS + WINDOW; i++) {
      if (i < REQUESTS) {
         assert_int_equal(ask(&fake, &request), RKB_ASK_OK);
         asked_tune(&request, transcript[i]);
         parents[i] = request.parents[0];
         assert_in_range(parents[i], 1, 2);
      }
      if (i >= WINDOW) { /* results arrive a window later */
         int at = i - WINDOW;
         double cost = cost_of(transcript[at]);
         best = cost > 0 ? fmin(best, cost) : best;
         tell_tuned(&fake, at, 10 + at, parents[at] == 1 ? "one" : "two", transcript[at], SPACE);
      }
   }
   fake_close(&fake);
   return best;
}

static void finds_the_best_of_its_grid(void **state) {
   static char first[REQUESTS][200], again[REQUESTS][200];
   int64_t parents[REQUESTS], same[REQUESTS], of_one = 0;
   (void)state;
   assert_float_equal(search(first, parents), 10, 1e-9); /* 48 requests for two grids of 216 points */
   search(again, same);
   assert_memory_equal(parents, same, sizeof parents);
   for (int i = 0; i < REQUESTS; i++) {
      assert_string_equal(first[i], again[i]);
      of_one += parents[i] == 1;
      for (int j = 0; j < i; j++)
         assert_false(parents[i] == parents[j] && strcmp(first[i], first[j]) == 0);
   }
   assert_int_equal(of_one, REQUESTS / 2);
}

static void stops_after_its_evaluations(void **state) {
   fake_t fake;
   rkb_request_t request;
   (void)state;
   fake_open(&fake, "strategy/tune");
   fake_start_strategy(&fake, (const char *const[]){"evaluations=2", NULL}, &SETUP);
   assert_int_equal(ask(&fake, &request), RKB_ASK_DONE); /* nothing to start from */
   tell_tuned(&fake, -1, 1, "one", "{\"TILE\": 1, \"BLOCK\": 32, \"UNROLL\": 0}", SPACE);
   assert_int_equal(ask(&fake, &request), RKB_ASK_OK);
   assert_int_equal(ask(&fake, &request), RKB_ASK_OK);
   tell_none(&fake, 0);
   assert_int_equal(ask(&fake, &request), RKB_ASK_DONE);
   fake_close(&fake);
}

/* A space that is not of integers is ignored; a space too large to be listed is sampled. */
static void odd_spaces(void **state) {
   static const char *const spaces[] = {"", "[]", "{\"A\": []}", "{\"A\": [1.5]}", "{\"A\": 3}", NULL};
   fake_t fake;
   rkb_request_t request;
   char large[1200] = "{\"TILE\":[1,2],\"BLOCK\":[32],\"UNROLL\":[0]";
   (void)state;
   for (int i = 0; i < 20; i++)
      snprintf(large + strlen(large), sizeof large - strlen(large), ",\"P%d\":[1,2,3,4,5,6,7,8,9,10]", i);
   strcat(large, "}");
   fake_open(&fake, "strategy/tune");
   fake_start_strategy(&fake, NULL, &SETUP);
   for (int i = 0; spaces[i]; i++)
      tell_tuned(&fake, -10 + i, 1 + i, "odd", "{\"TILE\": 1, \"BLOCK\": 32, \"UNROLL\": 0}", spaces[i]);
   assert_int_equal(ask(&fake, &request), RKB_ASK_DONE);
   tell_tuned(&fake, -1, 9, "large", "{\"TILE\": 1, \"BLOCK\": 32, \"UNROLL\": 0}", large);
   assert_int_equal(ask(&fake, &request), RKB_ASK_OK);
   assert_non_null(strstr(request.hints, "\"P19\": "));
   fake_close(&fake);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_the_best_of_its_grid),
      cmocka_unit_test(stops_after_its_evaluations),
      cmocka_unit_test(odd_spaces),
   };
   return RUN_TESTS(tests);
}
