/* What is noted about the decisions of a launch's blocks: outcomes of conditions, numbers that came out as 0,
 * and turns of loops. */
#include <stdio.h>
#include <string.h>
#include "machine/state/decisions.h"
#include "check.h"
#include "machine_harness.h"

/* A loop of so many turns in each of two blocks of a warp, within a loop of two turns; a condition that lane 31 alone meets, one that none meets; and the
 * turn's number divided by 4. */
static const char body[] = "mov.u32 %r1, %tid.x;\n"
                           "setp.eq.u32 %p1, %r1, 31;\n"
                           "setp.eq.u32 %p2, %r1, 32;\n"
                           "mov.u32 %r2, 0;\n"
                           "outer:\n"
                           "mov.u32 %r3, 0;\n"
                           "inner:\n"
                           "shr.u32 %r4, %r3, 2;\n"
                           "add.u32 %r3, %r3, 1;\n"
                           "setp.lt.u32 %p3, %r3, TURNS;\n"
                           "@%p3 bra inner;\n"
                           "add.u32 %r2, %r2, 1;\n"
                           "setp.lt.u32 %p4, %r2, 2;\n"
                           "@%p4 bra outer;\n";

struct seen {
   uint32_t both, one_alone, most_turns;
};

static bool run(const char *turns, bool ask, struct seen *seen) {
   char text[1024], ptx[2048], message[256] = "";
   const char *at = strstr(body, "TURNS");
   snprintf(text, sizeof text, "%.*s%s%s", (int)(at - body), body, turns, at + strlen("TURNS"));
   snprintf(ptx, sizeof ptx,
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry kernel(.param .u64 out)\n{\n"
            ".reg .b32 %%r<5>;\n.reg .pred %%p<5>;\n%sret;\n}\n",
            text);
   harness_t harness;
   rkb_machine_t *machine = NULL;
   rkb_error_t err;
   const rkb_machine_options_t options = {.decisions = ask};
   bool done =
      harness_open(&harness,
                   "// buffer: out out f32 32\n// launch: kernel grid=2,1,1 block=32,1,1 shared=0 args=out\n"
                   "// expect: pass\n",
                   ptx, message, sizeof message);
   if (!done)
      print_error("%s\n", message);
   done = done && rkb_machine_open(harness.module, &harness.plan, &options, &machine, &err) == RKB_OK;
   if (done) {
      harness_fill(&harness, 0);
      done = rkb_machine_run(machine, harness.data, &err) == RKB_OK;
   }
   const rkb_machine_decisions_t *decisions = done ? rkb_machine_decisions(machine, 0) : NULL;
   for (uint32_t n = 0; decisions && n < decisions->count; n++) {
      const uint32_t outcomes = decisions->outcomes[n] & RKB_MACHINE_OUTCOMES;
      seen->both += outcomes == RKB_MACHINE_OUTCOMES;
      seen->one_alone += outcomes == RKB_MACHINE_TRUE || outcomes == RKB_MACHINE_FALSE;
      seen->most_turns = decisions->turns[n] > seen->most_turns ? decisions->turns[n] : seen->most_turns;
   }
   done &= (decisions != NULL) == ask;
   rkb_machine_close(machine);
   harness_close(&harness);
   return done;
}

static void outcomes_and_turns_are_noted(void **state) {
   (void)state;
   struct seen few = {0}, many = {0};
   assert_true(run("3", true, &few));
   assert_int_equal(few.both, 3);      /* lane 31, and whether each loop goes on */
   assert_int_equal(few.one_alone, 2); /* lane 32, and a quotient that is 0 in every turn */
   assert_int_equal(few.most_turns, 3);
   assert_true(run("9", true, &many));
   assert_int_equal(many.both, 4);
   assert_int_equal(many.one_alone, 1);
   assert_int_equal(many.most_turns, 9); /* of one block and one turn of the loop around it */
}

static void nothing_is_noted_unasked(void **state) {
   (void)state;
   struct seen none = {0};
   assert_true(run("3", false, &none));
   assert_int_equal(none.both + none.one_alone + none.most_turns, 0);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(outcomes_and_turns_are_noted),
                                      cmocka_unit_test(nothing_is_noted_unasked)};
   return RUN_TESTS(tests);
}
