/* What blocks decide by their places in the grid, and what they do not. */
#include <string.h>
#include "machine/machine.h"
#include "check.h"

/* Four conditions: the block's number is 5,077; its low six bits are 13; both of these; and a product of the
 * block's number plus n.  A fifth is of a thread's index.  Two are not followed: one that only the launch
 * decides, and one of a value from memory. */
static const char ptx[] =
   ".version 8.0\n.target sm_90\n.address_size 64\n"
   ".visible .entry decide(.param .u64 x, .param .u32 n)\n{\n"
   ".reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<9>;\n"
   "ld.param.u64 %rd1, [x];\n"
   "ld.param.u32 %r1, [n];\n"
   "mov.u32 %r2, %ctaid.x;\n"
   "setp.eq.s32 %p1, %r2, 5077;\n"
   "and.b32 %r3, %r2, 63;\n"
   "setp.eq.s32 %p2, %r3, 13;\n"
   "and.pred %p3, %p1, %p2;\n"
   "mul.lo.s32 %r4, %r2, %r1;\n"
   "setp.gt.s32 %p4, %r4, 100;\n"
   "setp.gt.s32 %p5, %r1, 100;\n"
   "mov.u32 %r5, %tid.x;\n"
   "add.s32 %r6, %r5, %r2;\n"
   "setp.eq.s32 %p6, %r6, 7;\n"
   "ld.global.u32 %r7, [%rd1];\n"
   "setp.eq.s32 %p7, %r7, %r2;\n"
   "ret;\n}\n"
   ".visible .entry alike(.param .u32 n)\n{\n"
   ".reg .pred %p<3>;\n.reg .b32 %r<4>;\n"
   "ld.param.u32 %r1, [n];\n"
   "setp.gt.s32 %p1, %r1, 100;\n"
   "ret;\n}\n"
   /* Warps of which each owns a row, eight to a block, and rows 11,003 and 400 to 499. */
   ".visible .entry warps(.param .u32 rows)\n{\n"
   ".reg .pred %p<9>;\n.reg .b32 %r<20>;\n"
   "ld.param.u32 %r1, [rows];\n"
   "mov.u32 %r2, %ctaid.x;\n"
   "shl.b32 %r3, %r2, 3;\n"
   "mov.u32 %r4, %tid.x;\n"
   "shr.u32 %r5, %r4, 5;\n"
   "add.s32 %r6, %r3, %r5;\n"
   "setp.ge.s32 %p1, %r6, %r1;\n"
   "setp.eq.s32 %p2, %r6, 11003;\n"
   "add.s32 %r7, %r6, -400;\n"
   "setp.lt.u32 %p3, %r7, 100;\n"
   "ret;\n}\n";

static void blocks_that_decide_alike_are_one_kind(void **state) {
   (void)state;
   rkb_machine_module_t *module = rkb_machine_module_read(ptx, strlen(ptx));
   assert_non_null(module);
   rkb_machine_conditions_t *conditions = rkb_machine_block_conditions_new(module, "decide");
   assert_non_null(conditions);
   const rkb_plan_argument_t arguments[] = {{.buffer = 0, .offset = 0, .bytes = 8},
                                            {.buffer = UINT32_MAX, .offset = 8, .bytes = 4, .value = 1}};
   const rkb_plan_launch_t launch = {.entry = "decide",
                                     .grid = {16384, 1, 1},
                                     .block = {32, 1, 1},
                                     .arguments = arguments,
                                     .argument_count = 2};
   assert_int_equal(rkb_machine_block_conditions_launch(conditions, &launch, false), 7);
   uint64_t of[5];
   const uint32_t blocks[] = {5, 77, 200, 300, 5077};
   for (uint32_t n = 0; n < 5; n++)
      of[n] = rkb_machine_block_outcomes(conditions, &launch, (uint32_t[]){blocks[n], 0, 0}, false);
   assert_true(of[0] != of[1] && of[0] != of[2]); /* 77 % 64 is 13; 200 > 100 */
   assert_true(of[2] == of[3]);
   assert_true(of[4] != of[0] && of[4] != of[1] && of[4] != of[2]);
   uint64_t number;
   bool named = false;
   for (uint32_t n = 0; rkb_machine_block_conditions_number(conditions, n, &number); n++)
      named |= number == 5077;
   assert_true(named);
   rkb_machine_conditions_free(conditions);
   assert_null(rkb_machine_block_conditions_new(module, "alike"));
   assert_null(rkb_machine_block_conditions_new(module, "another"));
   rkb_machine_module_free(module);
}

static uint64_t of_warps(rkb_machine_conditions_t *conditions, const rkb_plan_launch_t *launch,
                         uint32_t block) {
   return rkb_machine_block_outcomes(conditions, launch, (uint32_t[]){block, 0, 0}, true);
}

static void a_condition_holds_in_all_threads_in_none_or_in_some(void **state) {
   (void)state;
   rkb_machine_module_t *module = rkb_machine_module_read(ptx, strlen(ptx));
   assert_non_null(module);
   rkb_machine_conditions_t *conditions = rkb_machine_block_conditions_new(module, "warps");
   assert_non_null(conditions);
   const rkb_plan_argument_t arguments[] = {{.buffer = UINT32_MAX, .offset = 0, .bytes = 4, .value = 16384}};
   const rkb_plan_launch_t launch = {.entry = "warps",
                                     .grid = {2049, 1, 1},
                                     .block = {256, 1, 1},
                                     .arguments = arguments,
                                     .argument_count = 1};
   assert_int_equal(rkb_machine_block_conditions_launch(conditions, &launch, false), 0);
   assert_int_equal(rkb_machine_block_conditions_launch(conditions, &launch, true), 7);
   const uint64_t usual = of_warps(conditions, &launch, 1000);
   assert_true(of_warps(conditions, &launch, 0) == usual && of_warps(conditions, &launch, 2047) == usual);
   assert_true(of_warps(conditions, &launch, 1374) == usual && of_warps(conditions, &launch, 1376) == usual);
   assert_true(of_warps(conditions, &launch, 1375) != usual); /* rows 11,000 to 11,007 */
   assert_true(of_warps(conditions, &launch, 55) != usual);   /* rows 440 to 447 */
   assert_true(of_warps(conditions, &launch, 62) != usual);   /* rows 496 to 503 */
   assert_true(of_warps(conditions, &launch, 63) == usual);
   assert_true(of_warps(conditions, &launch, 2048) != usual); /* rows that there are not */
   uint32_t block[3], found = 0;
   for (uint32_t n = 0; rkb_machine_block_conditions_meet(conditions, &launch, n, block); n++)
      found |= block[0] == 1375 ? 1 : block[0] == 62 ? 2 : block[0] == 2048 ? 4 : 0;
   assert_int_equal(found, 7);
   rkb_machine_conditions_free(conditions);
   rkb_machine_module_free(module);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_that_decide_alike_are_one_kind),
                                      cmocka_unit_test(a_condition_holds_in_all_threads_in_none_or_in_some)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
