/* What is counted for speed models: matrix instructions by type, and loads of what a block has loaded before. */
#include "check.h"
#include "machine_harness.h"

#include <stdlib.h>

/* What the first launch of a kernel of this folder counts. */
static rkb_launch_counters_t counters_of(const char *name) {
   char path[512], message[256] = "";
   snprintf(path, sizeof path, RKB_SOURCE_DIR "/tests/machine/kernels/%s.cu", name);
   char *source = harness_read_file(path);
   snprintf(path, sizeof path, RKB_SOURCE_DIR "/tests/machine/kernels/%s.ptx", name);
   char *ptx = harness_read_file(path);
   harness_t harness;
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report;
   rkb_error_t err;
   assert_true(source && ptx && harness_open(&harness, source, ptx, message, sizeof message));
   const rkb_machine_options_t options = {.requests = true};
   assert_int_equal(rkb_machine_open(harness.module, &harness.plan, &options, &machine, &err), RKB_OK);
   harness_fill(&harness, 0);
   assert_int_equal(rkb_machine_run(machine, harness.data, &err), RKB_OK);
   rkb_machine_report(machine, &report);
   const rkb_launch_counters_t counters = report.launches[0];
   rkb_machine_close(machine);
   harness_close(&harness);
   free(source);
   free(ptx);
   return counters;
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

/* 512 blocks read a row of 1,024 floats twice.  The weight and bias, which other blocks have read, are no rows read again. */
static void loads_of_what_a_block_loaded_are_counted(void **state) {
   (void)state;
   const rkb_launch_counters_t c = counters_of("layernorm");
   assert_int_equal(c.reused_sectors[0], 512 * 1024 * 4 / 32);
   for (int r = 1; r < RKB_REUSE_RANGES; r++)
      assert_int_equal(c.reused_sectors[r], 0);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(products_are_counted_by_type), cmocka_unit_test(loads_of_what_a_block_loaded_are_counted)};
   return RUN_TESTS(tests);
}
