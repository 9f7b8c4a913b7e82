/* Tiles of zeros, as beyond the edges of a matrix.  A zero times a finite number leaves a sum as it is; times
 * infinity or NaN it does not. */
#include "check.h"
#include "machine_harness.h"

#include <stdlib.h>
#include <string.h>

#define WORDS 32u /* a register of a warp */

static const char source[] =
   "// buffer: a in i32 128 zero\n// buffer: b in i32 64 zero\n// buffer: c in i32 128 zero\n// buffer: y out i32 128\n"
   "// launch: k grid=1,1,1 block=32,1,1 shared=0 args=a,b,c,y\n";

/* Each register of a fragment is 32 consecutive words of its buffer. */
static const char ptx[] =
   ".version 8.0\n.target sm_90\n.address_size 64\n"
   ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 py)\n{\n"
   " .reg .b32 %r<20>;\n .reg .f32 %f<8>;\n .reg .b64 %d<8>;\n"
   " ld.param.u64 %d0, [pa];\n ld.param.u64 %d1, [pb];\n ld.param.u64 %d2, [pc];\n ld.param.u64 %d3, [py];\n"
   " mov.u32 %r0, %tid.x;\n mul.wide.u32 %d4, %r0, 4;\n"
   " add.s64 %d0, %d0, %d4;\n add.s64 %d1, %d1, %d4;\n add.s64 %d2, %d2, %d4;\n add.s64 %d3, %d3, %d4;\n"
   " ld.global.u32 %r1, [%d0];\n ld.global.u32 %r2, [%d0+128];\n ld.global.u32 %r3, [%d0+256];\n ld.global.u32 %r4, [%d0+384];\n"
   " ld.global.u32 %r5, [%d1];\n ld.global.u32 %r6, [%d1+128];\n"
   " ld.global.f32 %f0, [%d2];\n ld.global.f32 %f1, [%d2+128];\n ld.global.f32 %f2, [%d2+256];\n ld.global.f32 %f3, [%d2+384];\n"
   " mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f0, %f1, %f2, %f3};\n"
   " st.global.f32 [%d3], %f0;\n st.global.f32 [%d3+128], %f1;\n st.global.f32 [%d3+256], %f2;\n st.global.f32 [%d3+384], %f3;\n ret;\n}\n";

enum { A, B, C, Y };

/* a, b and c filled with a word each; one word of b (column 5, rows 2 and 3) with another. */
static void multiply(uint32_t a, uint32_t b, uint32_t c, uint32_t other, uint32_t y[4 * WORDS]) {
   char message[256] = "";
   harness_t harness;
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report;
   rkb_error_t err;
   const uint32_t words[] = {a, b, c};
   const rkb_machine_options_t options = {.checks = RKB_MACHINE_SHADOW};
   if (!harness_open(&harness, source, ptx, message, sizeof message))
      fail_msg("%s", message);
   harness_fill(&harness, 0);
   for (uint32_t n = A; n <= C; n++)
      for (uint32_t w = 0; w < harness.buffers[n].bytes / 4; w++)
         ((uint32_t *)harness.data[n].data)[w] = words[n];
   ((uint32_t *)harness.data[B].data)[4 * 5 + 1] = other;
   assert_int_equal(rkb_machine_open(harness.module, &harness.plan, &options, &machine, &err), RKB_OK);
   assert_int_equal(rkb_machine_run(machine, harness.data, &err), RKB_OK);
   rkb_machine_report(machine, &report);
   assert_true(report.complete && report.finding_count == 0);
   memcpy(y, harness.data[Y].data, 4 * WORDS * sizeof *y);
   rkb_machine_close(machine);
   harness_close(&harness);
}

/* Column 5 of a result is in the second register of each pair, in the lanes 4 g + 2. */
static bool is_in_column_5(uint32_t n) {
   return n / WORDS % 2 == 1 && n % 4 == 2;
}

static void zeros_leave_sums_as_they_are(void **state) {
   (void)state;
   static const struct {
      uint32_t a, b, other, c, column, rest;
   } rows[] = {
      {0x00000000, 0x3f803f80, 0x3f803f80, 0x00000000, 0x00000000, 0x00000000}, /* zeros times ones */
      {0x80008000, 0xbf803f80, 0x3f803f80, 0x80000000, 0x00000000,
       0x00000000}, /* of either sign, added to -0 */
      {0x00000000, 0x3f803f80, 0x3f803f80, 0x3f800000, 0x3f800000, 0x3f800000}, /* added to 1 */
      {0x00000000, 0x3f803f80, 0x3f807f80, 0x00000000, 0x7fffffff,
       0x00000000}, /* times infinity in one column */
      {0x00000000, 0x3f803f80, 0x7fc03f80, 0x00000000, 0x7fffffff, 0x00000000}, /* times NaN */
      {0x3f803f80, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000}, /* ones times zeros */
      {0x7f800000, 0x00000000, 0x00000000, 0x00000000, 0x7fffffff, 0x7fffffff}, /* infinity times zeros */
      {0x3f803f80, 0x00000000, 0x3f800000, 0x00000000, 0x3f800000,
       0x00000000}, /* one number that is no zero */
      {0x00010000, 0x3f803f80, 0x3f803f80, 0x00000000, 0x00080000,
       0x00080000}, /* the least ones, eight of them */
   };
   for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
      uint32_t y[4 * WORDS];
      multiply(rows[r].a, rows[r].b, rows[r].c, rows[r].other, y);
      for (uint32_t n = 0; n < 4 * WORDS; n++)
         if (y[n] != (is_in_column_5(n) ? rows[r].column : rows[r].rest))
            fail_msg("row %zu, word %u: %08x", r, n, y[n]);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(zeros_leave_sums_as_they_are)};
   return RUN_TESTS(tests);
}
