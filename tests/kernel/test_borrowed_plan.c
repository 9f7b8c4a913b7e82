/* Plans of small cases that take the launches of a larger case: which they take, and what scratch these get. */
#include "plan_fixture.h"

#include <string.h>

/* A launch of large rows alone, as many blocks as there are multiprocessors. */
static const char lent[] =
   "let:\n  rows: B * T\nlaunches:\n"
   "  - {kernel: one, when: D > 1000, grid: \"min(rows, multiprocessors)\", block: 32, args: x}\n"
   "  - {else: , kernel: t<64>, grid: rows, block: 64, args: x}\n";

static void a_small_case_borrows_launches_of_a_small_device(void **state) {
   fixture_case_t of; /* all made cases have their dims in one place */
   rkb_finding_t finding = {0};
   (void)state;
   fixture_rmsnorm(&of, 8, 32, 2000);
   rkb_plan_t *lender = plan_fixture_make(lent, NULL, &of, &finding);
   fixture_rmsnorm(&of, 3, 5, 37);
   rkb_plan_t *own = plan_fixture_make(lent, NULL, &of, &finding),
              *plan = plan_fixture_borrow(lent, NULL, &of, lender, &finding);
   if (!plan || !lender || !own)
      fail_msg("%s: %s", finding.reason, finding.message);
   assert_int_equal(own->launches[0].grid[0], 15);
   assert_int_equal(lender->launches[0].grid[0], fixture_device("h200")->multiprocessors);
   assert_int_equal(plan->launch_count, 1);
   assert_int_equal(plan->launches[0].kernel, lender->launches[0].kernel);
   assert_int_equal(plan->launches[0].grid[0], 3); /* each block has five rows */
   rkb_plan_free(plan);
   rkb_plan_free(own);
   rkb_plan_free(lender);
}

/* Parts of sums, of which large rows have more. */
static const char parts[] =
   "scratch:\n  parts: {dtype: float32, shape: \"if(D > 1000, 8, 2) * B, if(if(D > 1000, 1, 0) == 1, T, 1)\"}\nlaunches:\n"
   "  - {kernel: one, when: D > 1000, grid: 1, block: 32, args: parts}\n"
   "  - {else: , kernel: t<64>, grid: 1, block: 64, args: parts}\n";

static void a_small_case_borrows_the_scratch_of_its_launches(void **state) {
   fixture_case_t of;
   rkb_finding_t finding = {0};
   (void)state;
   fixture_rmsnorm(&of, 8, 32, 2000);
   rkb_plan_t *lender = plan_fixture_make(parts, NULL, &of, &finding);
   fixture_rmsnorm(&of, 3, 5, 37);
   rkb_plan_t *own = plan_fixture_make(parts, NULL, &of, &finding),
              *plan = plan_fixture_borrow(parts, NULL, &of, lender, &finding);
   if (!plan || !lender || !own)
      fail_msg("%s: %s", finding.reason, finding.message);
   const uint32_t at = plan->launches[0].arguments[0].buffer;
   assert_int_equal(lender->buffers[at].elements, 8 * 8 * 32);
   assert_int_equal(own->buffers[at].elements, 2 * 3);
   assert_int_equal(plan->buffers[at].elements, 8 * 3 * 5);
   rkb_plan_t *again = plan_fixture_borrow(parts, NULL, &of, plan, &finding); /* from what was borrowed */
   assert_non_null(again);
   assert_int_equal(again->buffers[at].elements, 8 * 3 * 5);
   rkb_plan_free(again);
   rkb_plan_free(plan);
   rkb_plan_free(own);
   rkb_plan_free(lender);
}

/* The same by lets, one of which names the other.  Large rows have more parts of one buffer and fewer of the other. */
static const char let_parts[] =
   "let:\n  many: if(D > 1000, 8, 2)\n  all: many * B\nscratch:\n  parts: {dtype: float32, shape: \"all, if(many == 8, T, 1)\"}\n"
   "  others: {dtype: float32, shape: 10 - many}\nlaunches:\n"
   "  - {kernel: one, when: D > 1000, grid: many, block: 32, args: parts}\n"
   "  - {else: , kernel: t<64>, grid: many, block: 64, args: others}\n";

static void a_small_case_borrows_the_lets_of_scratch(void **state) {
   fixture_case_t of;
   rkb_finding_t finding = {0};
   (void)state;
   fixture_rmsnorm(&of, 8, 32, 2000);
   rkb_plan_t *large = plan_fixture_make(let_parts, NULL, &of, &finding);
   fixture_rmsnorm(&of, 3, 5, 37);
   rkb_plan_t *small = plan_fixture_make(let_parts, NULL, &of, &finding),
              *plan = plan_fixture_borrow(let_parts, NULL, &of, large, &finding);
   if (!plan || !large || !small)
      fail_msg("%s: %s", finding.reason, finding.message);
   const uint32_t parts_at = large->launches[0].arguments[0].buffer,
                  others_at = small->launches[0].arguments[0].buffer;
   const struct {
      const rkb_plan_t *plan;
      uint64_t parts, others, blocks;
   } wanted[] = {{large, 8 * 8 * 32, 2, 8},
                 {small, 2 * 3, 8, 2},
                 {plan, 8 * 3 * 5, 8, 2}}; /* what launches see is the case's own */
   for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
      assert_int_equal(wanted[i].plan->buffers[parts_at].elements, wanted[i].parts);
      assert_int_equal(wanted[i].plan->buffers[others_at].elements, wanted[i].others);
      assert_int_equal(wanted[i].plan->launches[0].grid[0], wanted[i].blocks);
   }
   rkb_plan_free(plan);
   rkb_plan_free(small);
   rkb_plan_free(large);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_small_case_borrows_launches_of_a_small_device),
      cmocka_unit_test(a_small_case_borrows_the_scratch_of_its_launches),
      cmocka_unit_test(a_small_case_borrows_the_lets_of_scratch),
   };
   return RUN_TESTS(tests);
}
