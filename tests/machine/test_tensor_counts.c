/* What is counted of matrix instructions, for speed models: warp instructions of their own class and multiply-adds by type. */
#include "check.h"
#include "machine_harness.h"

#include <stdlib.h>

static void products_are_counted_by_type(void **state) {
   (void)state;
   char *source = harness_read_file(RKB_SOURCE_DIR "/tests/machine/kernels/gemm_bf16.cu"),
        *ptx = harness_read_file(RKB_SOURCE_DIR "/tests/machine/kernels/gemm_bf16.ptx"), message[256] = "";
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
   const rkb_launch_counters_t *c = &report.launches[0];
   assert_int_equal(c->tensor_products[RKB_TENSOR_BF16], 256 * 256 * 256);
   assert_int_equal(c->tensor_products[RKB_TENSOR_F16], 0);
   assert_int_equal(c->warp_instructions[RKB_CLASS_TENSOR], 256 * 256 * 256 / 2048);
   assert_int_equal(c->load_least,
                    4 * 2 * 128 * 256 * 2 / 32); /* cp.async: two tiles of 128 rows by each of 4 blocks */
   assert_int_equal(c->load_sectors, c->load_least);
   rkb_machine_close(machine);
   harness_close(&harness);
   free(source);
   free(ptx);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(products_are_counted_by_type)};
   return RUN_TESTS(tests);
}
