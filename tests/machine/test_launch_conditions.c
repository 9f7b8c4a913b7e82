/* What a launch decides in a kernel by its parameters and its sizes alone, and what it does not. */
#include <stdio.h>
#include <math.h>
#include <string.h>
#include "machine/machine.h"
#include "check.h"

/* Six conditions: n % 8 == 4, n >= 100 as a 64-bit product, both, the grid's size, one of a value that is negative, and which of n and 100 is less; then two that a launch does not decide: of a thread's index,
 * and of a register that two instructions give values to. */
static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                          ".visible .entry decide(.param .u64 x, .param .u32 n, .param .u32 m)\n{\n"
                          ".reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<9>;\n"
                          "ld.param.u64 %rd1, [x];\n"
                          "ld.param.u32 %r1, [n];\n"
                          "ld.param.u32 %r2, [m];\n"
                          "and.b32 %r3, %r1, 7;\n"
                          "setp.eq.s32 %p1, %r3, 4;\n"
                          "mul.wide.s32 %rd2, %r1, 4;\n"
                          "setp.gt.s64 %p2, %rd2, 399;\n"
                          "and.pred %p3, %p1, %p2;\n"
                          "mov.u32 %r4, %nctaid.x;\n"
                          "setp.lt.u32 %p4, %r4, 3;\n"
                          "neg.s32 %r5, %r2;\n"
                          "setp.lt.s32 %p5, %r5, -9;\n"
                          "min.s32 %r8, %r1, 100;\n"
                          "mov.u32 %r6, %tid.x;\n"
                          "setp.lt.u32 %p6, %r6, %r1;\n"
                          "mov.u32 %r7, 0;\n"
                          "@%p1 mov.u32 %r7, 5;\n"
                          "setp.eq.s32 %p7, %r7, 5;\n"
                          "setp.eq.s64 %p8, %rd1, 0;\n"
                          "ret;\n}\n";

#define DECIDED 6

struct decided {
   bool outcomes[2 * DECIDED];
   uint32_t count;
};

static void note(void *argument, uint32_t number, bool outcome) {
   struct decided *decided = argument;
   (void)number;
   assert_true(decided->count < 2 * DECIDED);
   decided->outcomes[decided->count++] = outcome;
}

static void expect(rkb_machine_conditions_t *conditions, uint32_t n, uint32_t m, uint32_t grid,
                   const bool outcomes[DECIDED]) {
   const rkb_plan_argument_t arguments[] = {{.buffer = 0, .offset = 0, .bytes = 8},
                                            {.buffer = UINT32_MAX, .offset = 8, .bytes = 4, .value = n},
                                            {.buffer = UINT32_MAX, .offset = 12, .bytes = 4, .value = m}};
   const rkb_plan_launch_t launch = {.entry = "decide",
                                     .grid = {grid, 1, 1},
                                     .block = {32, 1, 1},
                                     .arguments = arguments,
                                     .argument_count = 3};
   struct decided decided = {.count = 0};
   rkb_machine_conditions_decide(conditions, &launch, note, &decided);
   assert_int_equal(decided.count, DECIDED);
   assert_memory_equal(decided.outcomes, outcomes, DECIDED * sizeof *outcomes);
}

static void a_launch_decides_by_its_parameters_and_sizes(void **state) {
   (void)state;
   uint32_t line;
   rkb_machine_module_t *module = rkb_machine_module_read(ptx, strlen(ptx));
   assert_non_null(module);
   assert_null(rkb_machine_module_error(module, &line));
   rkb_machine_conditions_t *conditions = rkb_machine_conditions_new(module, "decide");
   assert_non_null(conditions);
   expect(conditions, 12, 10, 2, (bool[]){true, false, false, true, true, true});
   expect(conditions, 100, 9, 3, (bool[]){true, true, true, false, false, true});
   expect(conditions, 101, 9, 1, (bool[]){false, true, false, true, false, false});
   expect(conditions, (uint32_t)-4, (uint32_t)-10, 3, (bool[]){true, false, false, false, false, true});
   rkb_machine_conditions_free(conditions);
   assert_null(rkb_machine_conditions_new(module, "another"));
   rkb_machine_module_free(module);
}

/* What a function that is not inlined, floating-point numbers and a loop decide: weighed(n) == 37, n * 0.5 == 8.5, and after as many turns as n can be halved, turns == 4.
 * The loop's own test is a condition as well, since what it tests is no plain counter. */
static const char followed_ptx[] =
   ".version 8.0\n.target sm_90\n.address_size 64\n"
   ".func (.param .b32 result) weighed(.param .b32 of)\n{\n.reg .b32 %r<3>;\n"
   "ld.param.u32 %r1, [of];\nmad.lo.s32 %r2, %r1, 2, 3;\nst.param.b32 [result], %r2;\nret;\n}\n"
   ".visible .entry decide(.param .u32 n)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .f32 %f<4>;\n"
   "ld.param.u32 %r1, [n];\n"
   "{\n.param .b32 given;\n.param .b32 taken;\nst.param.b32 [given], %r1;\n"
   "call.uni (taken), weighed, (given);\nld.param.b32 %r2, [taken];\n}\n"
   "setp.eq.s32 %p1, %r2, 37;\n"
   "cvt.rn.f32.s32 %f1, %r1;\nmul.f32 %f2, %f1, 0f3F000000;\nsetp.neu.f32 %p2, %f2, 0f41080000;\n"
   "mov.u32 %r3, %r1;\nmov.u32 %r4, 0;\n"
   "again:\nshr.u32 %r3, %r3, 1;\nadd.s32 %r4, %r4, 1;\nsetp.gt.u32 %p3, %r3, 0;\n@%p3 bra again;\n"
   "setp.eq.s32 %p4, %r4, 4;\n"
   "ret;\n}\n";

struct followed {
   uint32_t count, loops;
   bool outcomes[8];
   uint32_t numbers[8];
};

static void note_followed(void *argument, uint32_t number, bool outcome) {
   struct followed *followed = argument;
   for (uint32_t n = 0; n < followed->count; n++)
      if (followed->numbers[n] == number) { /* both ways, as a loop's test comes out */
         followed->loops++;
         return;
      }
   assert_true(followed->count < 8);
   followed->numbers[followed->count] = number;
   followed->outcomes[followed->count++] = outcome;
}

static void expect_followed(rkb_machine_conditions_t *conditions, uint32_t n, const bool outcomes[3]) {
   const rkb_plan_argument_t argument = {.buffer = UINT32_MAX, .bytes = 4, .value = n};
   const rkb_plan_launch_t launch = {
      .entry = "decide", .grid = {1, 1, 1}, .block = {32, 1, 1}, .arguments = &argument, .argument_count = 1};
   struct followed followed = {.count = 0};
   rkb_machine_conditions_decide(conditions, &launch, note_followed, &followed);
   assert_int_equal(followed.count, 4); /* the loop halves, so its test counts as a condition */
   assert_int_equal(followed.loops, 1);
   assert_int_equal(followed.outcomes[0], outcomes[0]);
   assert_int_equal(followed.outcomes[1], outcomes[1]);
   assert_int_equal(followed.outcomes[3], outcomes[2]);
}

static void calls_floats_and_loops_are_followed(void **state) {
   (void)state;
   uint32_t line;
   rkb_machine_module_t *module = rkb_machine_module_read(followed_ptx, strlen(followed_ptx));
   assert_non_null(module);
   assert_null(rkb_machine_module_error(module, &line));
   rkb_machine_conditions_t *conditions = rkb_machine_conditions_new(module, "decide");
   assert_non_null(conditions);
   uint64_t turns = 1000;
   assert_true(rkb_machine_conditions_follow(conditions, &turns));
   expect_followed(conditions, 17, (bool[]){true, false, false});
   expect_followed(conditions, 15, (bool[]){false, true, true});
   assert_in_range(turns, 1, 999);
   turns = 0;
   struct followed followed = {.count = 0};
   rkb_machine_conditions_decide(
      conditions, &(rkb_plan_launch_t){.entry = "decide", .grid = {1, 1, 1}, .block = {32, 1, 1}},
      note_followed, &followed);
   assert_int_equal(followed.loops, 0);
   rkb_machine_conditions_free(conditions);
   rkb_machine_module_free(module);
}

/* A range as compilers write it: 66 <= n < 500. */
static const char range_ptx[] =
   ".version 8.0\n.target sm_90\n.address_size 64\n"
   ".visible .entry decide(.param .u32 n)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<3>;\n"
   "ld.param.u32 %r1, [n];\nadd.s32 %r2, %r1, -66;\nsetp.lt.u32 %p1, %r2, 434;\nret;\n}\n";

struct measured {
   bool outcome;
   double distance;
};

static void note_distance(void *argument, uint32_t number, bool outcome, double distance) {
   (void)number;
   *(struct measured *)argument = (struct measured){outcome, distance};
}

static void a_range_is_measured_to_one_of_its_ends(void **state) {
   (void)state;
   static const struct {
      uint32_t n;
      struct measured is;
   } table[] = {{1, {false, -65}}, {65, {false, -1}}, {66, {true, -434}},
                {499, {true, -1}}, {500, {false, 0}}, {600, {false, 100}}};
   rkb_machine_module_t *module = rkb_machine_module_read(range_ptx, strlen(range_ptx));
   assert_non_null(module);
   rkb_machine_conditions_t *conditions = rkb_machine_conditions_new(module, "decide");
   assert_non_null(conditions);
   uint8_t wanted[8];
   assert_true(rkb_machine_conditions_numbers(conditions) <= sizeof wanted);
   memset(wanted, 1, sizeof wanted);
   for (uint32_t k = 0; k < sizeof table / sizeof *table; k++) {
      const rkb_plan_argument_t argument = {.buffer = UINT32_MAX, .bytes = 4, .value = table[k].n};
      const rkb_plan_launch_t launch = {.entry = "decide",
                                        .grid = {1, 1, 1},
                                        .block = {32, 1, 1},
                                        .arguments = &argument,
                                        .argument_count = 1};
      struct measured measured = {.distance = 0.5};
      rkb_machine_conditions_measure(conditions, &launch, wanted, note_distance, &measured);
      assert_int_equal(measured.outcome, table[k].is.outcome);
      assert_true(measured.distance == table[k].is.distance);
   }
   rkb_machine_conditions_free(conditions);
   rkb_machine_module_free(module);
}

/* A thread computes 1 + 1 / (1 + (n - 1237)²), which it uses with a loaded number, and compares n + tid / 1024 with 1237 and n + tid with 4. */
static const char one_thread[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                 ".visible .entry decide(.param .u64 x, .param .u32 n)\n{\n"
                                 ".reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<3>;\n"
                                 "ld.param.u64 %rd1, [x];\n"
                                 "ld.param.u32 %r1, [n];\n"
                                 "add.s32 %r2, %r1, -1237;\n"
                                 "cvt.rn.f32.s32 %f1, %r2;\n"
                                 "mul.f32 %f2, %f1, 0f60AD78EC;\n"
                                 "fma.rn.f32 %f3, %f2, %f1, 0f3F800000;\n"
                                 "rcp.rn.f32 %f4, %f3;\n"
                                 "add.f32 %f5, %f4, 0f3F800000;\n"
                                 "ld.global.f32 %f6, [%rd1];\n"
                                 "mul.f32 %f7, %f6, %f5;\n"
                                 "st.global.f32 [%rd1], %f7;\n"
                                 "mov.u32 %r3, %tid.x;\n"
                                 "shr.u32 %r4, %r3, 10;\n"
                                 "add.s32 %r5, %r4, %r1;\n"
                                 "setp.eq.s32 %p1, %r5, 1237;\n"
                                 "add.s32 %r6, %r3, %r1;\n"
                                 "setp.eq.s32 %p2, %r6, 4;\n"
                                 "ret;\n}\n";

static void a_thread_uses_what_is_the_same_at_other_sizes(void **state) {
   (void)state;
   static const uint64_t places[2] = {0, 1023}; /* the first and the last thread along x */
   static const struct {
      uint32_t n;
      bool outcomes[2];
   } expected[] = {{33, {true, false}}, {512, {true, false}}, {1237, {false, true}}, {1238, {true, false}}};
   rkb_machine_module_t *module = rkb_machine_module_read(one_thread, strlen(one_thread));
   assert_non_null(module);
   rkb_machine_conditions_t *conditions = rkb_machine_results_new(module, "decide", places, NULL);
   assert_non_null(conditions);
   for (size_t n = 0; n < sizeof expected / sizeof *expected; n++) {
      const rkb_plan_argument_t arguments[] = {
         {.buffer = 0, .offset = 0, .bytes = 8},
         {.buffer = UINT32_MAX, .offset = 8, .bytes = 4, .value = expected[n].n}};
      const rkb_plan_launch_t launch = {.entry = "decide",
                                        .grid = {3, 1, 1},
                                        .block = {32, 1, 1},
                                        .arguments = arguments,
                                        .argument_count = 2};
      struct decided decided = {.count = 0};
      rkb_machine_conditions_decide(conditions, &launch, note, &decided);
      assert_int_equal(decided.count, 2);
      assert_memory_equal(decided.outcomes, expected[n].outcomes, sizeof expected[n].outcomes);
   }
   rkb_machine_conditions_free(conditions);
   rkb_machine_module_free(module);
}

/* A thread compares 2 n + m + 1 + tid / 1024 with 1237.  %r3 is m first, and then n + 1. */
static const char two_writers[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                  ".visible .entry decide(.param .u32 m, .param .u32 n)\n{\n"
                                  ".reg .pred %p<2>;\n.reg .b32 %r<9>;\n"
                                  "ld.param.u32 %r1, [m];\n"
                                  "ld.param.u32 %r2, [n];\n"
                                  "mov.u32 %r3, %r1;\n"
                                  "add.s32 %r4, %r3, %r2;\n"
                                  "add.s32 %r3, %r2, 1;\n"
                                  "add.s32 %r5, %r3, %r4;\n"
                                  "mov.u32 %r6, %tid.x;\n"
                                  "shr.u32 %r7, %r6, 10;\n"
                                  "add.s32 %r8, %r7, %r5;\n"
                                  "setp.eq.s32 %p1, %r8, 1237;\n"
                                  "ret;\n}\n";

/* The same, with m and n in shared memory: a load gives m, another one n, and the last one m again. */
static const char through_memory[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                     ".visible .entry decide(.param .u32 m, .param .u32 n)\n{\n"
                                     ".reg .pred %p<2>;\n.reg .b32 %r<14>;\n"
                                     ".shared .align 4 .b8 cells[8];\n"
                                     "ld.param.u32 %r1, [m];\n"
                                     "ld.param.u32 %r2, [n];\n"
                                     "mov.u32 %r3, cells;\n"
                                     "st.shared.u32 [%r3], %r1;\n"
                                     "ld.shared.u32 %r4, [%r3];\n"
                                     "st.shared.u32 [%r3+4], %r2;\n"
                                     "ld.shared.u32 %r5, [%r3+4];\n"
                                     "ld.shared.u32 %r6, [%r3];\n"
                                     "sub.s32 %r7, %r4, %r1;\n"
                                     "add.s32 %r8, %r7, %r6;\n"
                                     "add.s32 %r9, %r8, %r5;\n"
                                     "mov.u32 %r10, %tid.x;\n"
                                     "shr.u32 %r11, %r10, 10;\n"
                                     "add.s32 %r12, %r11, %r9;\n"
                                     "add.s32 %r12, %r12, %r2;\n"
                                     "setp.eq.s32 %p1, %r12, 1236;\n"
                                     "ret;\n}\n";

/* The same, with m alone in memory, so that nothing there changes along n, and a comparison of m alone. */
static const char m_through_memory[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                       ".visible .entry decide(.param .u32 m, .param .u32 n)\n{\n"
                                       ".reg .pred %p<3>;\n.reg .b32 %r<10>;\n"
                                       ".shared .align 4 .b8 cells[8];\n"
                                       "ld.param.u32 %r1, [m];\n"
                                       "ld.param.u32 %r2, [n];\n"
                                       "mov.u32 %r3, cells;\n"
                                       "st.shared.u32 [%r3], %r1;\n"
                                       "ld.shared.u32 %r4, [%r3];\n"
                                       "mad.lo.s32 %r5, %r2, 2, %r4;\n"
                                       "mov.u32 %r6, %tid.x;\n"
                                       "shr.u32 %r7, %r6, 10;\n"
                                       "add.s32 %r8, %r7, %r5;\n"
                                       "add.s32 %r9, %r7, %r1;\n"
                                       "setp.lt.s32 %p2, %r9, 300;\n"
                                       "setp.eq.s32 %p1, %r8, 1236;\n"
                                       "ret;\n}\n";

/* A comparison of m alone, of registers that are written again before and after it, and the one of 2 n + m + 1. */
static const char several_writers[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                      ".visible .entry decide(.param .u32 m, .param .u32 n)\n{\n"
                                      ".reg .pred %p<2>;\n.reg .b32 %r<9>;\n"
                                      "ld.param.u32 %r1, [m];\n"
                                      "ld.param.u32 %r2, [n];\n"
                                      "mov.u32 %r6, %tid.x;\n"
                                      "shr.u32 %r7, %r6, 10;\n"
                                      "add.s32 %r3, %r2, 7;\n"
                                      "add.s32 %r3, %r7, %r1;\n"
                                      "setp.lt.s32 %p1, %r3, 300;\n"
                                      "mad.lo.s32 %r3, %r2, 2, %r3;\n"
                                      "setp.eq.s32 %p1, %r3, 1236;\n"
                                      "ret;\n}\n";

struct visits {
   uint32_t count;
   struct {
      uint32_t number;
      struct measured is;
   } list[64];
};

static void note_visit(void *argument, uint32_t number, bool outcome, double distance) {
   struct visits *visits = argument;
   assert_true(visits->count < sizeof visits->list / sizeof *visits->list);
   visits->list[visits->count].number = number;
   visits->list[visits->count++].is = (struct measured){outcome, distance};
}

static void check_same(const struct visits *a, const struct visits *b) {
   assert_int_equal(a->count, b->count);
   for (uint32_t n = 0; n < a->count; n++) {
      assert_int_equal(a->list[n].number, b->list[n].number);
      assert_int_equal(a->list[n].is.outcome, b->list[n].is.outcome);
      assert_true(a->list[n].is.distance == b->list[n].is.distance ||
                  (isnan(a->list[n].is.distance) && isnan(b->list[n].is.distance)));
   }
}

/* Compares what is told of all steps with what is told where numbers of m alone are held. */
static void measure_along(const char *text) {
   static const uint64_t places[2] = {0, 1023};
   rkb_machine_module_t *module = rkb_machine_module_read(text, strlen(text));
   assert_non_null(module);
   rkb_machine_conditions_t *conditions = rkb_machine_results_new(module, "decide", places, NULL),
                            *held = rkb_machine_results_new(module, "decide", places, NULL);
   assert_non_null(conditions);
   assert_non_null(held);
   uint8_t wanted[64] = {0};
   assert_true(rkb_machine_conditions_numbers(conditions) <= sizeof wanted);
   memset(wanted, 1, sizeof wanted);
   for (uint32_t n = 1; n < 900; n++) {
      const rkb_plan_argument_t arguments[] = {{.buffer = UINT32_MAX, .bytes = 4, .value = 200},
                                               {.buffer = UINT32_MAX, .offset = 4, .bytes = 4, .value = n}},
                                others[] = {arguments[0],
                                            {.buffer = UINT32_MAX, .offset = 4, .bytes = 4, .value = n + 1}};
      const rkb_plan_launch_t launch = {.entry = "decide",
                                        .grid = {1, 1, 1},
                                        .block = {32, 1, 1},
                                        .arguments = arguments,
                                        .argument_count = 2};
      rkb_plan_launch_t other = launch;
      struct visits all = {.count = 0}, of_held = {.count = 0};
      other.arguments = others;
      rkb_machine_conditions_measure(conditions, &launch, wanted, note_visit, &all);
      rkb_machine_conditions_measure(held, &launch, wanted, note_visit, &of_held);
      check_same(&all, &of_held);
      assert_true(all.count > 0);
      assert_int_equal(all.list[all.count - 1].is.outcome, n == 518);
      assert_true(all.list[all.count - 1].is.distance == 2.0 * n + 201 - 1237);
      if (n == 1)
         rkb_machine_conditions_keep(held, wanted);
      if (n == 2)
         rkb_machine_conditions_hold(held, &launch, &other);
   }
   rkb_machine_conditions_free(conditions);
   rkb_machine_conditions_free(held);
   rkb_machine_module_free(module);
}

static void numbers_that_stay_are_kept_along_a_dim(void **state) {
   (void)state;
   const char *const texts[] = {two_writers, through_memory, m_through_memory, several_writers};
   for (size_t n = 0; n < sizeof texts / sizeof *texts; n++)
      measure_along(texts[n]);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_launch_decides_by_its_parameters_and_sizes),
      cmocka_unit_test(calls_floats_and_loops_are_followed),
      cmocka_unit_test(a_range_is_measured_to_one_of_its_ends),
      cmocka_unit_test(a_thread_uses_what_is_the_same_at_other_sizes),
      cmocka_unit_test(numbers_that_stay_are_kept_along_a_dim),
   };
   return RUN_TESTS(tests);
}
