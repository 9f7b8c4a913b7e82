/* How many turns are counted of loops in which threads synchronise: of the innermost ones, in runs that look for races. */
#include <stdio.h>
#include <string.h>
#include "machine/state/loop_turns.h"
#include "check.h"
#include "machine_harness.h"

/* In a loop of two turns, a loop without synchronisation and one with; each of the second's turns has the instruction. */
static const char body[] = "mov.u32 %r2, 0;\n"
                           "outer:\n"
                           "mov.u32 %r3, 0;\n"
                           "alone:\n"
                           "add.u32 %r3, %r3, 1;\n"
                           "setp.lt.u32 %p1, %r3, 40;\n"
                           "@%p1 bra alone;\n"
                           "mov.u32 %r3, 0;\n"
                           "inner:\n"
                           "INSTRUCTION\n"
                           "add.u32 %r3, %r3, 1;\n"
                           "setp.lt.u32 %p2, %r3, 7;\n"
                           "@%p2 bra inner;\n"
                           "add.u32 %r2, %r2, 1;\n"
                           "setp.lt.u32 %p3, %r2, 2;\n"
                           "@%p3 bra outer;\n";

struct seen {
   uint32_t count, turns;
   bool ahead;
};

static bool run(const char *instruction, bool ask, uint32_t checks, struct seen *seen) {
   char ptx[2048], message[256] = "";
   const char *at = strstr(body, "INSTRUCTION");
   snprintf(ptx, sizeof ptx,
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry kernel(.param .u64 out)\n{\n"
            ".reg .b32 %%r<5>;\n.reg .pred %%p<5>;\n%.*s%s%sret;\n}\n",
            (int)(at - body), body, instruction, at + strlen("INSTRUCTION"));
   harness_t harness;
   rkb_machine_t *machine = NULL;
   rkb_error_t err;
   const rkb_machine_options_t options = {.loops = ask, .checks = checks};
   bool done =
      harness_open(&harness,
                   "// buffer: out out f32 32\n// launch: kernel grid=2,1,1 block=64,1,1 shared=0 args=out\n"
                   "// expect: pass\n",
                   ptx, message, sizeof message);
   if (!done)
      print_error("%s\n", message);
   done = done && rkb_machine_open(harness.module, &harness.plan, &options, &machine, &err) == RKB_OK;
   if (done) {
      harness_fill(&harness, 0);
      done = rkb_machine_run(machine, harness.data, &err) == RKB_OK;
   }
   const rkb_machine_loop_t *loops = done ? rkb_machine_loops(machine, 0, &seen->count) : NULL;
   if (loops && seen->count) {
      seen->turns = loops[0].turns;
      seen->ahead = loops[0].ahead;
   }
   rkb_machine_close(machine);
   harness_close(&harness);
   return done;
}

static void turns_of_loops_that_synchronise_are_counted(void **state) {
   (void)state;
   struct seen barrier = {0}, copies = {0}, none = {0};
   assert_true(run("bar.sync 0;", true, RKB_MACHINE_RACES, &barrier));
   assert_int_equal(barrier.count, 1);
   assert_int_equal(barrier.turns, 7);
   assert_false(barrier.ahead);
   assert_true(run("cp.async.commit_group;", true, RKB_MACHINE_RACES, &copies));
   assert_int_equal(copies.count, 1);
   assert_int_equal(copies.turns, 7);
   assert_true(copies.ahead);
   assert_true(run("", true, RKB_MACHINE_RACES, &none));
   assert_int_equal(none.count, 0);
}

static void nothing_is_counted_without_records_of_races(void **state) {
   (void)state;
   struct seen unasked = {0}, blind = {0};
   assert_true(run("bar.sync 0;", false, RKB_MACHINE_RACES, &unasked));
   assert_int_equal(unasked.count, 0);
   assert_true(run("bar.sync 0;", true, 0, &blind));
   assert_int_equal(blind.turns, 0);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(turns_of_loops_that_synchronise_are_counted),
                                      cmocka_unit_test(nothing_is_counted_without_records_of_races)};
   return RUN_TESTS(tests);
}
