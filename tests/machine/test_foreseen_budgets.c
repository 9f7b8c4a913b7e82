/* Runs that end as soon as their first blocks show that the budget will not do (options.foresee): only where it would be exceeded by more than the
 * factor, only after enough blocks, and never in a run that has its budget. */
#include "check.h"
#include "machine_harness.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS 64u
#define TURNS 100u /* of each block's loop, of three instructions by 32 threads */

static const char source[] = "// buffer: y out i32 2048\n"
                             "// launch: k grid=64,1,1 block=32,1,1 shared=0 args=y\n";
static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".visible .entry k(.param .u64 py)\n{\n"
                           " .reg .pred %p<2>;\n .reg .b32 %r<4>;\n .reg .b64 %d<3>;\n"
                           " ld.param.u64 %d0, [py];\n cvta.to.global.u64 %d0, %d0;\n"
                           " mov.u32 %r0, %ctaid.x;\n mov.u32 %r1, %tid.x;\n mad.lo.u32 %r1, %r0, 32, %r1;\n"
                           " mul.wide.u32 %d1, %r1, 4;\n add.s64 %d1, %d0, %d1;\n mov.u32 %r2, 0;\n"
                           "again:\n add.u32 %r2, %r2, 1;\n setp.lt.u32 %p0, %r2, 100;\n @%p0 bra again;\n"
                           " st.global.u32 [%d1], %r2;\n ret;\n}\n";

/* The same, but all blocks behind the eighth have a single turn. */
static const char uneven_text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                  ".visible .entry k(.param .u64 py)\n{\n"
                                  " .reg .pred %p<2>;\n .reg .b32 %r<5>;\n .reg .b64 %d<3>;\n"
                                  " ld.param.u64 %d0, [py];\n cvta.to.global.u64 %d0, %d0;\n"
                                  " mov.u32 %r0, %ctaid.x;\n mov.u32 %r1, %tid.x;\n mad.lo.u32 %r1, %r0, 32, %r1;\n"
                                  " mul.wide.u32 %d1, %r1, 4;\n add.s64 %d1, %d0, %d1;\n mov.u32 %r2, 0;\n"
                                  " setp.lt.u32 %p1, %r0, 8;\n selp.u32 %r3, 100, 1, %p1;\n"
                                  "again:\n add.u32 %r2, %r2, 1;\n setp.lt.u32 %p0, %r2, %r3;\n @%p0 bra again;\n"
                                  " st.global.u32 [%d1], %r2;\n ret;\n}\n";

typedef struct run {
   bool complete, out_of_budget;
   uint64_t blocks, work;
} run_t;

static run_t run_text(const char *text, uint64_t budget, uint32_t foresee, uint64_t seed) {
   const rkb_machine_options_t options = {.thread_instructions = budget, .foresee = foresee, .foresee_seed = seed};
   harness_t harness;
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report;
   rkb_error_t err;
   char message[256] = "";
   if (!harness_open(&harness, source, text, message, sizeof message))
      fail_msg("%s", message);
   assert_int_equal(rkb_machine_open(harness.module, &harness.plan, &options, &machine, &err), RKB_OK);
   assert_int_equal(rkb_machine_run(machine, harness.data, &err), RKB_OK);
   rkb_machine_report(machine, &report);
   const run_t run = {.complete = report.complete,
                      .out_of_budget =
                         report.finding_count == 1 && strcmp(report.findings[0].reason, "limit.budget") == 0,
                      .blocks = report.launches[0].executed,
                      .work = report.work};
   rkb_machine_close(machine);
   harness_close(&harness);
   return run;
}

static run_t run_with(uint64_t budget, uint32_t foresee) {
   return run_text(text, budget, foresee, 1);
}

static uint64_t work_of_all(void) {
   const run_t whole = run_with(UINT64_C(1) << 32, 0);
   assert_true(whole.complete && whole.blocks == BLOCKS && whole.work > BLOCKS * TURNS * 32);
   return whole.work;
}

static void a_run_with_its_budget_is_whole(void **state) {
   (void)state;
   const uint64_t all = work_of_all();
   const run_t run = run_with(all + all / 8, 1);
   assert_true(run.complete && !run.out_of_budget && run.work == all);
}

static void a_run_far_beyond_its_budget_ends_soon(void **state) {
   (void)state;
   const uint64_t budget = work_of_all() / 4;
   const run_t run = run_with(budget, 2), without = run_with(budget, 0);
   assert_true(run.out_of_budget && !run.complete);
   assert_int_equal(run.blocks, 8);
   assert_true(without.out_of_budget && without.work >= budget);
   assert_true(run.work < budget * 3 / 4);
}

/* One and a half times the budget: nothing is foreseen with the factor two. */
static void a_run_near_its_budget_uses_it(void **state) {
   (void)state;
   const uint64_t budget = work_of_all() / 3 * 2;
   const run_t run = run_with(budget, 2);
   assert_true(run.out_of_budget && run.work >= budget);
}

/* The first blocks alone do not decide, or wasted work there would have a shape left out; every block is executed once. */
static void first_blocks_alone_do_not_end_a_run(void **state) {
   (void)state;
   const run_t whole = run_text(uneven_text, UINT64_C(1) << 32, 0, 0);
   assert_true(whole.complete && whole.blocks == BLOCKS);
   for (uint64_t seed = 0; seed < 8; seed++) {
      const run_t run = run_text(uneven_text, whole.work + 1, 2, seed);
      assert_true(run.complete && run.blocks == BLOCKS && run.work == whole.work);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_with_its_budget_is_whole),
      cmocka_unit_test(a_run_far_beyond_its_budget_ends_soon),
      cmocka_unit_test(a_run_near_its_budget_uses_it),
      cmocka_unit_test(first_blocks_alone_do_not_end_a_run),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
