/* rkb.strategy.grid: counts through each parent's points and stops at each one's end. */
#include "strategy_fixture.h"
#include <string.h>

static const rkb_operator_t OPERATORS[] = {{"tune", "rkb.mutator.tune", 1, RKB_MUTATOR, 0}};
static const rkb_setup_t SETUP = {
   .size = sizeof SETUP, .window = 3, .operators = OPERATORS, .operator_count = 1, .objective = "model.us"};

/* Two parents with 2 and 5 points: every point is asked for once, then a bounded number of empty ones, then
 * done. */
static void every_point_once(void **state) {
   (void)state;
   fake_t fake;
   fake_open(&fake, "strategy/grid");
   fake_start_strategy(&fake, NULL, &SETUP);
   tell_one(&fake, -1, 1, "accept", 5);
   tell_one(&fake, -2, 2, "reject", 0);
   tell_one(&fake, -3, 3, "accept", 5);
   const int points[4] = {0, 2, 0, 5};
   int asked[4] = {0}, empty = 0, told = 0, total = 0;
   struct {
      int64_t parent;
      int point;
   } requests[64];
   rkb_request_t request;
   while (ask(&fake, &request) == RKB_ASK_OK) {
      char want[32];
      int64_t parent = request.parents[0];
      assert_true(parent == 1 || parent == 3);
      snprintf(want, sizeof want, "{\"grid\": %d}", asked[parent]);
      assert_string_equal(request.hints, want);
      requests[total].parent = parent;
      requests[total].point = asked[parent]++;
      total++;
      assert_true(total < 64);
      for (; told + 3 <= total; told++) { /* results arrive a window later */
         if (requests[told].point < points[requests[told].parent]) {
            tell_one(&fake, told, 100 + told, "accept", 1);
         } else {
            tell_none(&fake, told);
            empty++;
         }
      }
   }
   assert_true(asked[1] >= 2 && asked[3] >= 5);
   assert_in_range(total - 7, 2, 2 + 2 * 3);
   fake_close(&fake);
}

static void a_reject_can_end_a_grid(void **state) {
   (void)state;
   fake_t fake;
   rkb_request_t request;
   fake_open(&fake, "strategy/grid");
   fake_start_strategy(&fake, (const char *const[]){"on_reject=stop", NULL}, &SETUP);
   tell_one(&fake, -1, 1, "accept", 5);
   assert_int_equal(ask(&fake, &request), RKB_ASK_OK);
   tell_one(&fake, 0, 2, "reject", 0);
   assert_int_equal(ask(&fake, &request), RKB_ASK_DONE);
   fake_close(&fake);
}

static void nothing_to_start_from(void **state) {
   (void)state;
   fake_t fake;
   rkb_request_t request;
   fake_open(&fake, "strategy/grid");
   fake_start_strategy(&fake, NULL, &SETUP);
   assert_int_equal(ask(&fake, &request), RKB_ASK_DONE);
   fake_close(&fake);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_point_once),
      cmocka_unit_test(a_reject_can_end_a_grid),
      cmocka_unit_test(nothing_to_start_from),
   };
   return RUN_TESTS(tests);
}
