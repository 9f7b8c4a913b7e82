/* rkb.strategy.best_of_n: parents are the first candidates and nothing else. */
#include "strategy_fixture.h"

static const rkb_operator_t OPERATORS[] = {{"tune", "rkb.mutator.tune", 3, RKB_MUTATOR, 0},
                                           {"edit", "rkb.mutator.edit", 1, RKB_MUTATOR, 0}};
static const rkb_setup_t SETUP = {
   .size = sizeof SETUP, .window = 4, .operators = OPERATORS, .operator_count = 2, .objective = "model.us"};

static void draws_from_accepted_roots(void **state) {
   (void)state;
   fake_t fake;
   rkb_request_t request;
   fake_open(&fake, "strategy/best_of_n");
   fake_start_strategy(&fake, (const char *const[]){"n=400", NULL}, &SETUP);
   tell_one(&fake, -1, 1, "suspect", 5);
   tell_one(&fake, -2, 2, "accept", 7);
   tell_one(&fake, -3, 3, "reject", 0);
   tell_one(&fake, -4, 4, "accept", 9);
   uint32_t of_operator[2] = {0}, of_root[5] = {0};
   for (int i = 0; i < 400; i++) {
      assert_int_equal(ask(&fake, &request), RKB_ASK_OK);
      of_operator[request.operator_index]++;
      assert_int_equal(request.parent_count, 2);
      assert_true(request.parents[0] != request.parents[1]);
      of_root[request.parents[0]]++;
      tell_one(&fake, i, 10 + i, "accept", 0.5); /* better than any root, and no parent all the same */
   }
   assert_int_equal(of_root[2], 200);
   assert_int_equal(of_root[4], 200);
   assert_in_range(of_operator[0], 250, 350); /* weight 3 of 4 */
   assert_int_equal(ask(&fake, &request), RKB_ASK_DONE);
   fake_close(&fake);
}

static void ends_without_roots(void **state) {
   (void)state;
   fake_t fake;
   rkb_request_t request;
   fake_open(&fake, "strategy/best_of_n");
   fake_start_strategy(&fake, NULL, &SETUP);
   tell_one(&fake, -1, 1, "reject", 0);
   assert_int_equal(ask(&fake, &request), RKB_ASK_DONE);
   fake_close(&fake);
}

static void translators_need_no_roots(void **state) {
   (void)state;
   static const rkb_operator_t operators[] = {{"tune", "rkb.mutator.tune", 9, RKB_MUTATOR, 0},
                                              {"llm", "rkb.translator.llm", 1, RKB_TRANSLATOR, 0}};
   const rkb_setup_t setup = {.size = sizeof setup,
                              .window = 4,
                              .operators = operators,
                              .operator_count = 2,
                              .objective = "model.us"};
   fake_t fake;
   rkb_request_t request;
   fake_open(&fake, "strategy/best_of_n");
   fake_start_strategy(&fake, NULL, &setup);
   for (int i = 0; i < 20; i++) {
      assert_int_equal(ask(&fake, &request), RKB_ASK_OK);
      assert_int_equal(request.operator_index, 1);
      assert_int_equal(request.parent_count, 0);
   }
   fake_close(&fake);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(draws_from_accepted_roots),
      cmocka_unit_test(ends_without_roots),
      cmocka_unit_test(translators_need_no_roots),
   };
   return RUN_TESTS(tests);
}
