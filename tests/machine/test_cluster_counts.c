/* What the machine counts of clusters, for the speed model: waits at the cluster's barrier, and accesses of other blocks' shared memory. */
#include <stdio.h>
#include "check.h"
#include "machine_harness.h"

#define WAIT "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"

/* A cluster of four blocks of two warps. */
static rkb_launch_counters_t counts_of(const char *body) {
   char ptx[2048], message[256] = "";
   snprintf(ptx, sizeof ptx,
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry kernel(.param .u64 out)\n{\n"
            ".reg .b32 %%r<8>;\n.reg .pred %%p<2>;\n.shared .align 8 .b8 tile[128];\n%sret;\n}\n",
            body);
   harness_t harness;
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report = {0};
   rkb_error_t err = {0};
   if (!harness_open(&harness,
                     "// buffer: out out f32 32\n// launch: kernel grid=8,1,1 block=64,1,1 cluster=4,1,1 shared=0 args=out\n"
                     "// expect: pass\n",
                     ptx, message, sizeof message))
      fail_msg("%s", message);
   const rkb_machine_options_t options = {.requests = true, .counts_only = true};
   if (rkb_machine_open(harness.module, &harness.plan, &options, &machine, &err) != RKB_OK)
      fail_msg("%s", err.message);
   harness_fill(&harness, 0);
   assert_int_equal(rkb_machine_run(machine, harness.data, &err), RKB_OK);
   rkb_machine_report(machine, &report);
   assert_non_null(report.launches);
   const rkb_launch_counters_t counts = report.launches[0];
   rkb_machine_close(machine);
   harness_close(&harness);
   return counts;
}

static void a_wait_counts_once_for_each_block(void **state) {
   (void)state;
   const rkb_launch_counters_t c = counts_of(WAIT WAIT WAIT);
   assert_int_equal(c.executed, 8);
   assert_int_equal(c.cluster_waits, 8 * 3);
   assert_int_equal(c.remote_accesses, 0);
}

/* Four threads of each block store into one block each, one of which is their own. */
static void stores_into_other_blocks_count_by_lanes(void **state) {
   (void)state;
   const rkb_launch_counters_t c = counts_of("mov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 4;\n" WAIT
                                             "@%p1 bra rest;\nmov.u32 %r2, tile;\nmapa.shared::cluster.u32 %r3, %r2, %r1;\n"
                                             "mov.u32 %r4, %cluster_ctarank;\nmad.lo.u32 %r3, %r4, 4, %r3;\n"
                                             "st.shared::cluster.u32 [%r3], %r1;\nrest:\n" WAIT);
   assert_int_equal(c.cluster_waits, 8 * 2);
   assert_int_equal(c.remote_accesses, 8 * 3);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(a_wait_counts_once_for_each_block),
                                      cmocka_unit_test(stores_into_other_blocks_count_by_lanes)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
