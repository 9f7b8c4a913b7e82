/* What is counted for speed models: matrix instructions by type, and loads of what a block has loaded before. */
#include "check.h"
#include "machine_harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The counts of the first launch of a kernel of this folder. *unwritten: how many 4-byte elements of all its
 * outputs were never written. */
static rkb_launch_counters_t counters_without(bool values, const char *name, uint64_t *unwritten) {
   char path[512], message[256] = "";
   snprintf(path, sizeof path, RKB_SOURCE_DIR "/tests/machine/kernels/%s.cu", name);
   char *source = harness_read_file(path);
   snprintf(path, sizeof path, RKB_SOURCE_DIR "/tests/machine/kernels/%s.ptx", name);
   char *ptx = harness_read_file(path);
   harness_t harness;
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report;
   uint64_t first;
   bool written;
   rkb_error_t err;
   assert_true(source && ptx && harness_open(&harness, source, ptx, message, sizeof message));
   const rkb_machine_options_t options = {
      .requests = true, .no_values = !values, .checks = values ? 0 : RKB_MACHINE_TAINT};
   assert_int_equal(rkb_machine_open(harness.module, &harness.plan, &options, &machine, &err), RKB_OK);
   harness_fill(&harness, 0);
   assert_int_equal(rkb_machine_run(machine, harness.data, &err), RKB_OK);
   rkb_machine_report(machine, &report);
   const rkb_launch_counters_t counters = report.launches[0];
   assert_true(report.complete);
   *unwritten = 0;
   for (uint32_t n = 0; n < harness.plan.buffer_count; n++)
      if (harness.plan.buffers[n].role == RKB_OUT)
         *unwritten += rkb_machine_undefined(machine, n, 4, &first, &written);
   rkb_machine_close(machine);
   harness_close(&harness);
   free(source);
   free(ptx);
   return counters;
}

static rkb_launch_counters_t counters_of(const char *name) {
   uint64_t unwritten;
   return counters_without(true, name, &unwritten);
}

static void products_are_counted_by_type(void **state) {
   (void)state;
   const rkb_launch_counters_t c = counters_of("gemm_bf16");
   assert_int_equal(c.tensor_products[RKB_TENSOR_BF16], 256 * 256 * 256);
   assert_int_equal(c.tensor_products[RKB_TENSOR_F16], 0);
   assert_int_equal(c.warp_instructions[RKB_CLASS_TENSOR], 256 * 256 * 256 / 2048);
   assert_int_equal(c.load_least,
                    4 * 2 * 128 * 256 * 2 / 32); /* cp.async: two tiles of 128 rows by each of 4 blocks */
   assert_int_equal(c.load_sectors, c.load_least);
}

/* 512 blocks each read a row of 1,024 floats twice.  The weight and bias, which other blocks have read
 * before, do not count as rows that are read again. */
static void loads_of_what_a_block_loaded_are_counted(void **state) {
   (void)state;
   const rkb_launch_counters_t c = counters_of("layernorm");
   assert_int_equal(c.reused_sectors[0], 512 * 1024 * 4 / 32);
   for (int r = 1; r < RKB_REUSE_RANGES; r++)
      assert_int_equal(c.reused_sectors[r], 0);
}

static bool is_about(uint64_t count, double expected) {
   return fabs((double)count / expected - 1) < 0.02;
}

/* A block reads 524,288 sectors and then all of them again, more than are told apart one by one. */
static void sectors_of_long_rows_are_counted_by_a_part_of_them(void **state) {
   (void)state;
   const rkb_launch_counters_t c = counters_of("long_rows");
   uint64_t again = 0;
   assert_int_equal(c.load_sectors, 2 << 19);
   assert_true(is_about(c.distinct_load_sectors, 1 << 19));
   assert_int_equal(c.distinct_store_sectors, 1024 * 4 / 32);
   for (int r = 0; r < RKB_REUSE_RANGES; r++)
      again += c.reused_sectors[r];
   assert_true(is_about(again, 1 << 19));
   assert_true(c.reused_sectors[18 - RKB_REUSE_LEAST] + c.reused_sectors[19 - RKB_REUSE_LEAST] == again);
}

static void counts_need_no_values(void **state) {
   (void)state;
   static const char *const names[] = {"gemm_bf16", "gemm_wgmma", "gemm_tma_wgmma", "matmul", "layernorm"};
   for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
      uint64_t unwritten, unwritten_without;
      const rkb_launch_counters_t with = counters_without(true, names[n], &unwritten),
                                  without = counters_without(false, names[n], &unwritten_without);
      assert_memory_equal(&with, &without, sizeof with);
      assert_int_equal(unwritten, unwritten_without);
   }
}

static void texts_contain_what_they_name(void **state) {
   (void)state;
   static const struct {
      const char *name;
      bool groups, tiles;
   } kernels[] = {{"gemm_bf16", false, false}, {"gemm_wgmma", true, false}, {"gemm_tma_wgmma", true, true}};
   for (size_t n = 0; n < sizeof kernels / sizeof *kernels; n++) {
      char path[512], message[256] = "";
      snprintf(path, sizeof path, RKB_SOURCE_DIR "/tests/machine/kernels/%s.cu", kernels[n].name);
      char *source = harness_read_file(path);
      snprintf(path, sizeof path, RKB_SOURCE_DIR "/tests/machine/kernels/%s.ptx", kernels[n].name);
      char *ptx = harness_read_file(path);
      harness_t harness;
      assert_true(source && ptx && harness_open(&harness, source, ptx, message, sizeof message));
      const char *entry = harness.plan.launches[0].entry;
      assert_int_equal(rkb_machine_contains(harness.module, entry, "wgmma.mma_async"), kernels[n].groups);
      assert_int_equal(rkb_machine_contains(harness.module, entry, "cp.async.bulk.tensor"), kernels[n].tiles);
      assert_false(rkb_machine_contains(harness.module, "another", "wgmma.mma_async"));
      harness_close(&harness);
      free(source);
      free(ptx);
   }
}

/* Counters of the first launch of a product of four blocks; counted: the same of the counted ones alone. */
static void count_sample(const rkb_machine_options_t *options, rkb_launch_counters_t *all,
                         rkb_launch_counters_t *counted, uint64_t *counted_work, uint64_t *work) {
   char message[256] = "";
   char *source = harness_read_file(RKB_SOURCE_DIR "/tests/machine/kernels/gemm_bf16.cu"),
        *ptx = harness_read_file(RKB_SOURCE_DIR "/tests/machine/kernels/gemm_bf16.ptx");
   harness_t harness;
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report;
   rkb_error_t err;
   assert_true(source && ptx && harness_open(&harness, source, ptx, message, sizeof message));
   assert_int_equal(rkb_machine_open(harness.module, &harness.plan, options, &machine, &err), RKB_OK);
   harness_fill(&harness, 0);
   assert_int_equal(rkb_machine_run(machine, harness.data, &err), RKB_OK);
   rkb_machine_report(machine, &report);
   assert_int_equal(report.finding_count, 0);
   assert_int_equal(report.counted != NULL, options->counted != NULL);
   *all = report.launches[0];
   *work = report.work;
   if (report.counted) {
      *counted = report.counted[0];
      *counted_work = report.counted_work;
   }
   rkb_machine_close(machine);
   harness_close(&harness);
   free(source);
   free(ptx);
}

/* Whether blocks are counted alone or at the beginning of a larger sample, and what the limit leaves out of them. */
static void blocks_are_counted_among_others(void **state) {
   (void)state;
   static const uint64_t numbers[] = {2, 0, 1, 3};
   for (uint32_t kept = 1; kept <= 2; kept++) {
      const uint32_t counted_blocks = 2;
      const rkb_machine_blocks_t few = {.numbers = numbers, .count = kept},
                                 all = {.numbers = numbers, .count = 4};
      const rkb_machine_options_t alone = {.counts_only = true, .requests = true, .sample = &few},
                                  among = {.requests = true,
                                           .sample = &all,
                                           .counted = &counted_blocks,
                                           .counted_instructions = kept == 1 ? 1 : UINT64_MAX};
      rkb_launch_counters_t expected, counted, executed;
      uint64_t work, counted_work = 0, all_work;
      count_sample(&alone, &expected, &counted, &counted_work, &work);
      count_sample(&among, &executed, &counted, &counted_work, &all_work);
      assert_memory_equal(&expected, &counted, sizeof expected);
      assert_int_equal(counted_work, work);
      assert_int_equal(executed.executed, kept + 2);
      assert_true(all_work > work);
   }
}

/* Turns while the word is 0: once on what is made, and for ever where nothing is. */
static const char steered_source[] =
   "// buffer: x in i32 32 one\n// buffer: y out i32 32\n// launch: k grid=1,1,1 block=32,1,1 shared=0 args=x,y\n";
static const char steered_ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                  ".visible .entry k(.param .u64 px, .param .u64 py)\n{\n"
                                  " .reg .pred %p<1>;\n .reg .b32 %r<4>;\n .reg .b64 %d<4>;\n"
                                  " ld.param.u64 %d0, [px];\n ld.param.u64 %d1, [py];\n mov.u32 %r1, 0;\n"
                                  "again:\n ld.global.s32 %r0, [%d0];\n add.s32 %r1, %r1, %r0;\n"
                                  " setp.eq.s32 %p0, %r0, 0;\n @%p0 bra again;\n"
                                  " st.global.u32 [%d1], %r1;\n ret;\n}\n";

static int ones_are_made(void *argument, uint32_t buffer, uint64_t first, uint64_t bytes, void *out) {
   ++*(uint32_t *)argument;
   for (uint64_t n = 0; n < bytes / 4; n++)
      ((int32_t *)out)[n] = 1;
   (void)buffer;
   (void)first;
   return RKB_OK;
}

static void an_input_that_steers_ends_a_run_without_values(void **state) {
   (void)state;
   for (int no_values = 0; no_values < 2; no_values++) {
      char message[256] = "";
      uint32_t fetched = 0;
      harness_t harness;
      rkb_machine_t *machine = NULL;
      rkb_machine_report_t report;
      rkb_error_t err;
      if (!harness_open(&harness, steered_source, steered_ptx, message, sizeof message))
         fail_msg("%s", message);
      const rkb_machine_options_t options = {.no_values = no_values,
                                             .checks = RKB_MACHINE_TAINT,
                                             .fetch = ones_are_made,
                                             .fetch_argument = &fetched,
                                             .thread_instructions = 1000000};
      memset(harness.data[0].data, 0, harness.buffers[0].bytes);
      assert_int_equal(rkb_machine_open(harness.module, &harness.plan, &options, &machine, &err), RKB_OK);
      assert_int_equal(rkb_machine_run(machine, harness.data, &err), RKB_OK);
      rkb_machine_report(machine, &report);
      assert_int_equal(report.control_taint, 1);
      assert_int_equal(report.complete, !no_values);
      assert_int_equal(fetched, !no_values);
      assert_true(report.thread_instructions < 1000); /* not until the budget ends */
      rkb_machine_close(machine);
      harness_close(&harness);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(products_are_counted_by_type),
                                      cmocka_unit_test(loads_of_what_a_block_loaded_are_counted),
                                      cmocka_unit_test(sectors_of_long_rows_are_counted_by_a_part_of_them),
                                      cmocka_unit_test(counts_need_no_values),
                                      cmocka_unit_test(texts_contain_what_they_name),
                                      cmocka_unit_test(blocks_are_counted_among_others),
                                      cmocka_unit_test(an_input_that_steers_ends_a_run_without_values)};
   return RUN_TESTS(tests);
}
