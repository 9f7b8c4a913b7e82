/* A run lists its first sixteen findings, and a network has hundreds of launches: of each launch is known whether anything was found in it.
 * Here sampled blocks of twenty launches lack the value that says where they store, and those of the last launch lack nothing. */
#include "machine_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define COPIES 20u
#define LISTED 16u

static const char text[] = "// buffer: from scratch f32 1024\n"
                           "// buffer: to out f32 1024\n"
                           "// launch: copy grid=4,1,1 block=256,1,1 shared=0 args=from,to\n"
                           "// launch: set grid=4,1,1 block=256,1,1 shared=0 args=to\n"
                           "// expect: pass\n"
                           "extern \"C\" __global__ void copy(const float *from, float *to) {\n"
                           "   const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "   to[(int)from[i]] = 2.0f;\n"
                           "}\n"
                           "extern \"C\" __global__ void set(float *to) {\n"
                           "   to[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;\n"
                           "}\n";

static int fetch(void *argument, uint32_t buffer, uint64_t first, uint64_t bytes, void *out) {
   (void)argument, (void)buffer, (void)first, (void)bytes, (void)out;
   return RKB_ERR_INVALID; /* there are no inputs */
}

static void each_launch_is_known(void **state) {
   (void)state;
   char message[512];
   char *ptx = harness_compile(text, NULL, message, sizeof message);
   harness_t *harness = calloc(1, sizeof *harness);
   rkb_plan_launch_t *launches = calloc(COPIES + 1, sizeof *launches);
   rkb_machine_blocks_t *sample = calloc(COPIES + 1, sizeof *sample);
   const uint64_t block = 2;
   assert_non_null(ptx);
   assert_true(harness && launches && sample);
   assert_true(harness_open(harness, text, ptx, message, sizeof message));
   for (uint32_t n = 0; n <= COPIES; n++) {
      launches[n] = harness->plan.launches[n == COPIES];
      sample[n] = (rkb_machine_blocks_t){.numbers = &block, .count = 1, .least = 1};
   }
   harness->plan.launches = launches;
   harness->plan.launch_count = COPIES + 1;
   harness_fill(harness, 0);
   const rkb_machine_options_t options = {.sample = sample, .fetch = fetch};
   rkb_machine_report_t report;
   rkb_machine_t *machine = harness_execute(harness, &options, &report);
   assert_non_null(machine);
   assert_int_equal(report.finding_count, LISTED);
   for (uint32_t n = 0; n < COPIES; n++)
      assert_true(rkb_machine_found(machine, n));
   assert_false(rkb_machine_found(machine, COPIES));
   rkb_machine_close(machine);
   harness_close(harness);
   free(sample);
   free(launches);
   free(harness);
   free(ptx);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(each_launch_is_known)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
