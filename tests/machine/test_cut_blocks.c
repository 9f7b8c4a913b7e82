/* Blocks of which only the beginning is executed (options.block_work): each ends there without a finding, the next one begins, and no block finds what an earlier
 * one stored. */
#include "check.h"
#include "machine_harness.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS 4u
#define WORK 20000u

static const char source[] = "// buffer: y out i32 256\n"
                             "// launch: k grid=8,1,1 block=32,1,1 shared=0 args=y\n";

/* Block 0 stores and ends; 1 ends; 2 stores the first word of block 0 on, and never ends; 3 branches on that word if READS. */
static const char begin[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                            ".visible .entry k(.param .u64 py)\n{\n"
                            " .reg .pred %p<5>;\n .reg .b32 %r<4>;\n .reg .b64 %d<4>;\n"
                            " ld.param.u64 %d0, [py];\n cvta.to.global.u64 %d0, %d0;\n"
                            " mov.u32 %r0, %ctaid.x;\n mov.u32 %r1, %tid.x;\n"
                            " mul.wide.u32 %d1, %r1, 4;\n add.s64 %d1, %d0, %d1;\n"
                            " setp.eq.u32 %p0, %r0, 1;\n @%p0 ret;\n"
                            " setp.eq.u32 %p1, %r0, 3;\n @%p1 bra third;\n"
                            " st.global.u32 [%d1], %r0;\n"
                            " setp.eq.u32 %p2, %r0, 0;\n @%p2 ret;\n"
                            "again:\n add.u32 %r1, %r1, 1;\n bra again;\n"
                            "third:\n";
static const char reads[] = " ld.global.u32 %r2, [%d1];\n setp.eq.u32 %p3, %r2, 0;\n @%p3 ret;\n"
                            " st.global.u32 [%d1], %r0;\n";
static const char end[] = " ret;\n}\n";

static int make_nothing(void *argument, uint32_t buffer, uint64_t first, uint64_t bytes, void *out) {
   (void)argument, (void)buffer, (void)first;
   memset(out, 0, bytes);
   return RKB_OK;
}

typedef struct run {
   harness_t harness;
   rkb_machine_t *machine;
   rkb_machine_report_t report;
} run_t;

static void open_run(run_t *run, bool with_reads) {
   static const uint64_t numbers[BLOCKS] = {0, 1, 2, 3};
   const rkb_machine_blocks_t blocks = {.numbers = numbers, .count = BLOCKS, .least = BLOCKS};
   const rkb_machine_options_t options = {.sample = &blocks, .fetch = make_nothing, .block_work = WORK};
   char message[256] = "", ptx[2048];
   rkb_error_t err;
   snprintf(ptx, sizeof ptx, "%s%s%s", begin, with_reads ? reads : "", end);
   *run = (run_t){.machine = NULL};
   if (!harness_open(&run->harness, source, ptx, message, sizeof message))
      fail_msg("%s", message);
   run->harness.data[0].defined = false;
   assert_int_equal(rkb_machine_open(run->harness.module, &run->harness.plan, &options, &run->machine, &err),
                    RKB_OK);
   assert_int_equal(rkb_machine_run(run->machine, run->harness.data, &err), RKB_OK);
   rkb_machine_report(run->machine, &run->report);
}

static void close_run(run_t *run) {
   rkb_machine_close(run->machine);
   harness_close(&run->harness);
}

static void a_block_is_cut_without_a_finding(void **state) {
   (void)state;
   run_t run;
   rkb_machine_extent_t extent;
   open_run(&run, false);
   if (run.report.finding_count)
      fail_msg("%s", run.report.findings[0].message);
   assert_int_equal(run.report.launches[0].executed, BLOCKS);
   assert_true(rkb_machine_ended(run.machine, 0, 0) && rkb_machine_ended(run.machine, 0, 1));
   assert_false(rkb_machine_ended(run.machine, 0, 2));
   assert_true(rkb_machine_ended(run.machine, 0, 3));
   assert_true(rkb_machine_extent(run.machine, 0, 0, 0, &extent));
   assert_false(rkb_machine_extent(run.machine, 0, 1, 0, &extent));
   assert_true(rkb_machine_extent(run.machine, 0, 2, 0, &extent));
   assert_false(rkb_machine_holds(run.machine, 0, 0, 4));
   assert_true(run.report.work >= WORK && run.report.work < 2 * WORK);
   close_run(&run);
}

static void no_block_finds_what_another_stored(void **state) {
   (void)state;
   run_t run;
   open_run(&run, true);
   assert_int_equal(run.report.finding_count, 1);
   assert_string_equal(run.report.findings[0].reason, "memory.uninitialised");
   close_run(&run);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(a_block_is_cut_without_a_finding),
                                      cmocka_unit_test(no_block_finds_what_another_stored)};
   return RUN_TESTS(tests);
}
