/* Loads and copies from a large input that is made piece by piece give the input's own values, whatever the
 * distances between lanes, and each piece is made once. */
#include "check.h"
#include "machine_harness.h"

#include <stdlib.h>
#include <string.h>

#define WORDS (262144u + 25u) /* more than a MiB, and a short piece at the end */
#define PIECE 256u

static const char source[] = "// buffer: x in i32 262169 zero\n// buffer: y out i32 576\n"
                             "// launch: k grid=1,1,1 block=32,1,1 shared=0 args=x,y\n";

/* Where each part of y comes from is in expected_word. */
static const char ptx[] =
   ".version 8.0\n.target sm_90\n.address_size 64\n"
   ".visible .entry k(.param .u64 px, .param .u64 py)\n{\n"
   " .reg .pred %p<3>;\n .reg .b16 %h<2>;\n .reg .b32 %r<12>;\n .reg .b64 %d<8>;\n"
   " .shared .align 16 .b8 tile[1024];\n .shared .align 8 .b64 bar;\n"
   " ld.param.u64 %d0, [px];\n ld.param.u64 %d1, [py];\n mov.u32 %r0, %tid.x;\n"
   " cvta.to.global.u64 %d0, %d0;\n cvta.to.global.u64 %d1, %d1;\n"
   " mul.wide.u32 %d2, %r0, 4;\n add.s64 %d3, %d1, %d2;\n mul.wide.u32 %d4, %r0, 16;\n add.s64 %d5, %d1, %d4;\n"
   /* consecutive words */
   " add.s64 %d6, %d0, %d2;\n ld.global.u32 %r1, [%d6];\n st.global.u32 [%d3], %r1;\n"
   /* one of each eight KiB */
   " mul.wide.u32 %d6, %r0, 8192;\n add.s64 %d6, %d0, %d6;\n ld.global.u32 %r1, [%d6];\n st.global.u32 [%d3+128], %r1;\n"
   /* four words each, in another piece each */
   " mul.wide.u32 %d6, %r0, 4112;\n add.s64 %d6, %d0, %d6;\n ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d6];\n"
   " st.global.v4.u32 [%d5+256], {%r1, %r2, %r3, %r4};\n"
   /* bytes apart, and halves that begin in one piece and end in the next */
   " mul.wide.u32 %d6, %r0, 1000;\n add.s64 %d6, %d0, %d6;\n ld.global.u8 %r1, [%d6+3];\n st.global.u32 [%d3+768], %r1;\n"
   " mul.wide.u32 %d6, %r0, 2;\n add.s64 %d6, %d0, %d6;\n ld.global.u16 %h0, [%d6+480];\n cvt.u32.u16 %r1, %h0;\n"
   " st.global.u32 [%d3+896], %r1;\n"
   /* the last words, the last one first */
   " sub.s64 %d6, %d0, %d2;\n ld.global.u32 %r1, [%d6+1048672];\n st.global.u32 [%d3+1024], %r1;\n"
   /* odd lanes alone, and one lane alone */
   " and.b32 %r1, %r0, 1;\n setp.eq.u32 %p0, %r1, 1;\n setp.eq.u32 %p1, %r0, 5;\n mov.u32 %r2, 0;\n"
   " mul.wide.u32 %d6, %r0, 512;\n add.s64 %d6, %d0, %d6;\n @%p0 ld.global.u32 %r2, [%d6+256];\n"
   " @%p1 ld.global.u32 %r2, [%d6+700000];\n st.global.u32 [%d3+1152], %r2;\n"
   /* sixteen bytes each by cp.async */
   " mov.u32 %r1, tile;\n shl.b32 %r2, %r0, 4;\n add.u32 %r1, %r1, %r2;\n mul.wide.u32 %d6, %r0, 304;\n add.s64 %d6, %d0, %d6;\n"
   " cp.async.cg.shared.global [%r1], [%d6+65536], 16;\n cp.async.commit_group;\n cp.async.wait_group 0;\n"
   " ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r1];\n st.global.v4.u32 [%d5+1280], {%r4, %r5, %r6, %r7};\n"
   /* 512 bytes of three pieces by one copy */
   " bar.sync 0;\n setp.eq.u32 %p0, %r0, 0;\n mov.u32 %r8, bar;\n mov.u32 %r9, tile;\n @!%p0 bra wait;\n"
   " mbarrier.init.shared::cta.b64 [%r8], 1;\n fence.proxy.async;\n"
   " mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 512;\n add.s64 %d6, %d0, 16016;\n"
   " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%d6], 512, [%r8];\n"
   "wait:\n bar.sync 0;\n"
   "again:\n mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r8], 0;\n @!%p2 bra again;\n"
   " ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r1];\n st.global.v4.u32 [%d5+1792], {%r4, %r5, %r6, %r7};\n ret;\n}\n";

static uint32_t word_at(uint64_t word) {
   return (uint32_t)(word + 1) * 2654435761u;
}

/* So many bytes of the input from byte on. */
static uint32_t value_at(uint64_t byte, uint32_t bytes) {
   const uint64_t two = word_at(byte / 4) | (uint64_t)word_at(byte / 4 + 1) << 32;
   return (uint32_t)(two >> 8 * (byte % 4) & ((UINT64_C(1) << 8 * bytes) - 1));
}

static uint32_t expected_word(uint32_t n) {
   const uint32_t lane = n % 32;
   if (n < 32)
      return word_at(n);
   if (n < 64)
      return value_at(8192 * lane, 4);
   if (n < 192)
      return value_at(4112 * ((n - 64) / 4) + 4 * (n % 4), 4);
   if (n < 224)
      return value_at(1000 * lane + 3, 1);
   if (n < 256)
      return value_at(480 + 2 * lane, 2);
   if (n < 288)
      return word_at(WORDS - 1 - lane);
   if (n < 320)
      return lane == 5 ? value_at(700000 + 512 * lane, 4) : lane & 1 ? value_at(256 + 512 * lane, 4) : 0;
   if (n < 448)
      return value_at(65536 + 304 * ((n - 320) / 4) + 4 * (n % 4), 4);
   return value_at(16016 + 4 * (n - 448), 4);
}

static int make_piece(void *argument, uint32_t buffer, uint64_t first, uint64_t bytes, void *out) {
   uint8_t *made = argument;
   assert_int_equal(buffer, 0);
   assert_int_equal(first % PIECE, 0);
   assert_true(first + bytes <= WORDS * 4 && bytes <= PIECE);
   assert_int_equal(made[first / PIECE]++, 0);
   for (uint64_t n = 0; n < bytes / 4; n++)
      ((uint32_t *)out)[n] = word_at(first / 4 + n);
   return RKB_OK;
}

static void a_large_input_has_its_own_values(void **state) {
   (void)state;
   char message[256] = "";
   uint8_t *made = calloc(WORDS * 4 / PIECE + 1, 1);
   harness_t harness;
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report;
   rkb_error_t err;
   if (!harness_open(&harness, source, ptx, message, sizeof message))
      fail_msg("%s", message);
   const rkb_machine_options_t options = {.fetch = make_piece, .fetch_argument = made};
   memset(harness.data[0].data, 0, harness.buffers[0].bytes);
   assert_int_equal(rkb_machine_open(harness.module, &harness.plan, &options, &machine, &err), RKB_OK);
   assert_int_equal(rkb_machine_run(machine, harness.data, &err), RKB_OK);
   rkb_machine_report(machine, &report);
   if (report.finding_count)
      fail_msg("%s", report.findings[0].message);
   assert_true(report.complete);
   for (uint32_t n = 0; n < 576; n++)
      assert_int_equal(((const uint32_t *)harness.data[1].data)[n], expected_word(n));
   rkb_machine_close(machine);
   harness_close(&harness);
   free(made);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(a_large_input_has_its_own_values)};
   return RUN_TESTS(tests);
}
