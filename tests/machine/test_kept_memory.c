/* A run that takes memory from an earlier run of the plan knows nothing of what that run stored. */
#include "check.h"
#include "machine_harness.h"

#include <string.h>

#define WORDS 2097152u /* eight MiB: less memory comes from the heap or in huge pages, and is not kept */
#define APART 65536u   /* bytes between the words of two lanes */

static const char source[] = "// buffer: x in i32 32 zero\n// buffer: y out i32 2097152\n"
                             "// launch: k grid=1,1,1 block=32,1,1 shared=0 args=x,y\n";

/* y[16384 lane + x[lane]] = lane */
static const char ptx[] =
   ".version 8.0\n.target sm_90\n.address_size 64\n"
   ".visible .entry k(.param .u64 px, .param .u64 py)\n{\n"
   " .reg .b32 %r<4>;\n .reg .b64 %d<8>;\n"
   " ld.param.u64 %d0, [px];\n ld.param.u64 %d1, [py];\n mov.u32 %r0, %tid.x;\n"
   " cvta.to.global.u64 %d0, %d0;\n cvta.to.global.u64 %d1, %d1;\n"
   " mul.wide.u32 %d2, %r0, 4;\n add.s64 %d2, %d0, %d2;\n ld.global.u32 %r1, [%d2];\n"
   " mul.wide.u32 %d3, %r0, 65536;\n mul.wide.u32 %d4, %r1, 4;\n add.s64 %d3, %d3, %d4;\n"
   " add.s64 %d3, %d1, %d3;\n st.global.u32 [%d3], %r0;\n ret;\n}\n";

static int make_words(void *argument, uint32_t buffer, uint64_t first, uint64_t bytes, void *out) {
   const uint32_t *word = argument;
   assert_int_equal(buffer, 0);
   assert_true(first + bytes <= 128);
   for (uint64_t n = 0; n < bytes / 4; n++)
      ((uint32_t *)out)[n] = *word;
   return RKB_OK;
}

/* Stores a word of each lane, so many words behind the lane's first one.  Then these words hold values, and no others. */
static void run_at(harness_t *harness, rkb_machine_kept_t *kept, uint32_t word) {
   const rkb_machine_options_t options = {.fetch = make_words, .fetch_argument = &word, .kept = kept};
   rkb_machine_report_t report;
   rkb_machine_t *machine = harness_execute(harness, &options, &report);
   assert_non_null(machine);
   if (report.finding_count)
      fail_msg("%s", report.findings[0].message);
   assert_true(report.complete);
   assert_int_equal(rkb_machine_unwritten(machine, 1, 4), WORDS - 32);
   for (uint32_t lane = 0; lane < 32; lane++)
      for (uint32_t w = 0; w < 256; w++)
         assert_int_equal(rkb_machine_holds(machine, 1, (uint64_t)APART * lane + 4 * w, 4), w == word);
   rkb_machine_close(machine);
}

static void what_an_earlier_run_stored_is_forgotten(void **state) {
   (void)state;
   static const uint32_t words[] = {0, 1, 70, 70, 255, 0};
   char message[256] = "";
   harness_t harness;
   if (!harness_open(&harness, source, ptx, message, sizeof message))
      fail_msg("%s", message);
   rkb_machine_kept_t *kept = rkb_machine_kept_new();
   assert_non_null(kept);
   harness.data[0].defined = harness.data[1].defined = false;
   for (uint32_t n = 0; n < sizeof words / sizeof *words; n++)
      run_at(&harness, kept, words[n]);
   rkb_machine_kept_free(kept);
   harness_close(&harness);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(what_an_earlier_run_stored_is_forgotten)};
   return RUN_TESTS(tests);
}
