/* Conditions that a launch decides by statements which are executed alone, and by what one thread stores and loads (split_statements.h,
 * condition_cells.c). */
#include <stdio.h>
#include <string.h>
#include "machine/machine.h"
#include "check.h"

#define MOST_OUTCOMES 8

struct outcomes {
   bool of[MOST_OUTCOMES];
   uint32_t count;
};

static void note(void *argument, uint32_t number, bool outcome) {
   struct outcomes *outcomes = argument;
   (void)number;
   assert_true(outcomes->count < MOST_OUTCOMES);
   outcomes->of[outcomes->count++] = outcome;
}

static struct outcomes decide(rkb_machine_conditions_t *conditions, uint32_t n, uint32_t threads) {
   const rkb_plan_argument_t argument = {.buffer = UINT32_MAX, .bytes = 4, .value = n};
   const rkb_plan_launch_t launch = {.entry = "decide",
                                     .grid = {1, 1, 1},
                                     .block = {threads, 1, 1},
                                     .dynamic_shared = 4 * n,
                                     .arguments = &argument,
                                     .argument_count = 1};
   struct outcomes outcomes = {.count = 0};
   rkb_machine_conditions_decide(conditions, &launch, note, &outcomes);
   return outcomes;
}

#define BEGIN                                                                                                \
   ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry decide(.param .u32 n)\n{\n"               \
   ".reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<9>;\nld.param.u32 %r1, [n];\n"

/* What a kernel decides is true at 1237 and false at 1236 and 1238; at 1237 with 20 threads it is as the table says. */
static void statements_are_executed_alone(void **state) {
   (void)state;
   static const struct {
      const char *text;
      bool by_twenty;   /* of a warp with 20 threads */
      uint32_t carries; /* which are conditions too */
   } table[] = {
      {"sad.u32 %r2, %r1, 1237, 0;\nsetp.eq.s32 %p1, %r2, 0;\n", true, 0},
      {"xor.b32 %r2, %r1, 1237;\nbfind.u32 %r3, %r2;\nsetp.eq.s32 %p1, %r3, -1;\n", true, 0},
      {"bfi.b32 %r2, %r1, 0, 4, 16;\nsetp.eq.s32 %p1, %r2, 19792;\n", true, 0},
      {"mov.b64 %rd1, {%r1, %r1};\nsetp.eq.s64 %p1, %rd1, 5312874546389;\n", true, 0},
      {"mov.b64 %rd1, 5312874546389;\nmov.b64 {%r2, %r3}, %rd1;\nsetp.eq.s32 %p1, %r1, %r3;\n", true, 0},
      {"sub.cc.u32 %r2, %r1, 1238;\nsubc.u32 %r3, 0, 0;\nsub.cc.u32 %r4, 1236, %r1;\nsubc.u32 %r5, 0, 0;\n"
       "and.b32 %r6, %r3, %r5;\nsetp.ne.s32 %p1, %r6, 0;\n",
       true, 2},
      {"redux.sync.add.s32 %r2, %r1, -1;\nsetp.eq.s32 %p1, %r2, 39584;\n", false, 0},
      {"redux.sync.add.s32 %r2, %r1, 3;\nsetp.eq.s32 %p1, %r2, 2474;\n", true, 0},
      {"mov.u32 %r2, %dynamic_smem_size;\nsetp.eq.s32 %p1, %r2, 4948;\n", true, 0},
   };
   for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
      char text[1024];
      snprintf(text, sizeof text, "%s%sret;\n}\n", BEGIN, table[k].text);
      rkb_machine_module_t *module = rkb_machine_module_read(text, strlen(text));
      assert_non_null(module);
      rkb_machine_conditions_t *conditions = rkb_machine_conditions_new(module, "decide");
      assert_non_null(conditions);
      for (uint32_t n = 1236; n <= 1238; n++) {
         const struct outcomes outcomes = decide(conditions, n, 32);
         assert_int_equal(outcomes.count, 1 + table[k].carries);
         assert_int_equal(outcomes.of[table[k].carries], n == 1237);
      }
      assert_int_equal(decide(conditions, 1237, 20).of[table[k].carries], table[k].by_twenty);
      rkb_machine_conditions_free(conditions);
      rkb_machine_module_free(module);
   }
}

/* Threads of a warp get different values, so the launch decides nothing. */
static void different_values_are_not_known(void **state) {
   (void)state;
   static const char text[] = BEGIN "mov.u32 %r2, %tid.x;\nsad.u32 %r3, %r1, %r2, 0;\n"
                                    "setp.eq.s32 %p1, %r3, 0;\nret;\n}\n";
   rkb_machine_module_t *module = rkb_machine_module_read(text, strlen(text));
   assert_non_null(module);
   rkb_machine_conditions_t *conditions = rkb_machine_conditions_new(module, "decide");
   assert_true(!conditions || decide(conditions, 1237, 32).count == 0);
   rkb_machine_conditions_free(conditions);
   rkb_machine_module_free(module);
}

static void a_thread_is_followed_through_memory(void **state) {
   (void)state;
   static const uint64_t places[2] = {0, 1023};
   static const char *const table[] = {
      "st.shared.u32 [cell+4], %r1;\nld.shared.u32 %r2, [cell+4];\n",
      "st.local.v2.u32 [own], {%r3, %r1};\nld.local.u32 %r2, [own+4];\n",
      /* another thread's */
      "mov.u32 %r4, %tid.x;\nshl.b32 %r5, %r4, 2;\nmov.u32 %r6, cell;\nadd.s32 %r7, %r6, %r5;\n"
      "st.shared.u32 [%r7], %r1;\nxor.b32 %r8, %r5, 4;\nadd.s32 %r9, %r6, %r8;\nld.shared.u32 %r2, [%r9];\n",
      "mbarrier.init.shared.b64 [cell], %r1;\nmbarrier.arrive.shared.b64 %rd1, [cell];\n"
      "mbarrier.pending_count.b64 %r2, %rd1;\n"};
   for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
      char text[1024];
      snprintf(text, sizeof text,
               "%s.shared .align 8 .b8 cell[128];\n.local .align 8 .b8 own[8];\n%s"
               "setp.eq.s32 %%p1, %%r2, 1237;\nret;\n}\n",
               BEGIN, table[k]);
      rkb_machine_module_t *module = rkb_machine_module_read(text, strlen(text));
      assert_non_null(module);
      rkb_machine_conditions_t *conditions = rkb_machine_results_new(module, "decide", places, NULL);
      assert_non_null(conditions);
      for (uint32_t n = 1236; n <= 1238; n++) {
         const struct outcomes outcomes = decide(conditions, n, 32);
         assert_int_equal(outcomes.count, 1);
         assert_int_equal(outcomes.of[0], n == 1237);
      }
      rkb_machine_conditions_free(conditions);
      rkb_machine_module_free(module);
   }
}

/* The first access names a policy that keeps lines, and the second does not. */
static void policies_that_last_are_found(void **state) {
   (void)state;
   static const struct {
      const char *policy;
      bool lasts;
   } table[] = {{"mov.b64 %rd2, 1508705875169116160;\n", true},
                {"mov.b64 %rd2, 1152921504606846976;\n", false},
                {"mov.b64 %rd3, 1364590687093260288;\nmov.b64 %rd2, %rd3;\n", false},
                {"cvt.u64.u32 %rd2, %r1;\n", true}};
   for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
      char text[1024];
      const char *opcode = NULL;
      uint32_t line = 0;
      snprintf(text, sizeof text, "%s%sld.global.L2::cache_hint.u32 %%r2, [%%rd1], %%rd2;\nret;\n}\n", BEGIN,
               table[k].policy);
      rkb_machine_module_t *module = rkb_machine_module_read(text, strlen(text));
      assert_non_null(module);
      assert_int_equal(rkb_machine_lasting_policy(module, &line, &opcode), table[k].lasts);
      assert_int_equal(line != 0, table[k].lasts);
      rkb_machine_module_free(module);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(statements_are_executed_alone),
      cmocka_unit_test(different_values_are_not_known),
      cmocka_unit_test(a_thread_is_followed_through_memory),
      cmocka_unit_test(policies_that_last_are_found),
   };
   return RUN_TESTS(tests);
}
