/* rkb-bench-tensor - multiply-adds a second of the checking machine on one core, in processor time, on a product of bfloat16
 * matrices as a fast kernel writes it (tests/machine/kernels/gemm_bf16.cu: cp.async, ldmatrix, mma), at each level of checks, and of
 * the sums alone; and how they stand to the goal.  Exits with 1 when a run fails. */
#include "machine/machine_harness.h"
#include "machine/lanes/tensor_arithmetic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/usage.h"

#define RUNS 15 /* the least of them: neighbours on a shared host make a run longer, never shorter */
#define GOAL 2.0
#define PRODUCTS (256.0 * 256.0 * 256.0)

static double now(void) {
   struct timespec t;
   clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
   return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void print_rate(const char *what, double products, double seconds) {
   printf("%-48s %7.2f G multiply-adds/s  %5.2f of the goal\n", what, products / seconds * 1e-9,
          products / seconds * 1e-9 / GOAL);
}

static bool measure(harness_t *harness, const char *what, uint32_t checks, bool portable) {
   rkb_machine_options_t options = {.checks = checks, .portable = portable};
   rkb_machine_t *machine;
   rkb_machine_report_t report;
   rkb_error_t err;
   double best = 1e9;
   bool done = rkb_machine_open(harness->module, &harness->plan, &options, &machine, &err) == RKB_OK;
   for (int run = 0; run < RUNS && done; run++) {
      harness_fill(harness, (uint32_t)run);
      const double start = now();
      done = rkb_machine_run(machine, harness->data, &err) == RKB_OK;
      const double taken = now() - start;
      best = taken < best ? taken : best;
      rkb_machine_report(machine, &report);
      done = done && report.complete && !report.finding_count;
   }
   print_rate(what, PRODUCTS, best);
   rkb_machine_close(machine);
   return done;
}

static void measure_sums(void) {
   static machine_tensor_factors_t a, b;
   const machine_tensor_rule_t rule = {25, TENSOR_LEAST};
   uint32_t bits[TENSOR_ROWS * TENSOR_TERMS], sum[TENSOR_ROWS * TENSOR_COLUMNS] = {0};
   const int turns = 20000;
   for (uint32_t n = 0; n < TENSOR_ROWS * TENSOR_TERMS; n++)
      bits[n] = (n * 2654435761u >> 16 & 0x807f) | (120 + n % 8) << 7;
   double best = 1e9;
   for (int run = 0; run < RUNS; run++) {
      const double start = now();
      for (int n = 0; n < turns; n++) {
         machine_tensor_take_v3(TENSOR_BF16, bits, TENSOR_ROWS * TENSOR_TERMS, &a);
         machine_tensor_take_v3(TENSOR_BF16, bits, TENSOR_COLUMNS * TENSOR_TERMS, &b);
         machine_tensor_sum_v3(&rule, TENSOR_ROWS, TENSOR_TERMS, &a, &b, false, sum);
      }
      const double taken = now() - start;
      best = taken < best ? taken : best;
   }
   print_rate("the sums alone", 2048.0 * turns, best);
}

int main(int argc, char **argv) {
   const int over = rkb_usage(argc, argv, 0,
                              "usage: rkb-bench-tensor\n"
                              "Prints the multiply-adds a second of the checking machine on a product of bfloat16 matrices, at each level "
                              "of checks.\n");
   if (over >= 0)
      return over;
   char *source = harness_read_file(RKB_SOURCE_DIR "/tests/machine/kernels/gemm_bf16.cu"),
        *ptx = harness_read_file(RKB_SOURCE_DIR "/tests/machine/kernels/gemm_bf16.ptx"),
        message[256] = "cannot be read";
   harness_t harness;
   if (!source || !ptx || !harness_open(&harness, source, ptx, message, sizeof message)) {
      fprintf(stderr, "gemm_bf16: %s\n", message);
      return 1;
   }
   const uint32_t all = RKB_MACHINE_RACES | RKB_MACHINE_SHADOW | RKB_MACHINE_TAINT;
   bool good = measure(&harness, "bounds, definedness", 0, false);
   good &= measure(&harness, "bounds, definedness, races", RKB_MACHINE_RACES, false);
   good &= measure(&harness, "bounds, definedness, shadow", RKB_MACHINE_SHADOW, false);
   good &= measure(&harness, "bounds, definedness, races, shadow, taint", all, false);
   good &= measure(&harness, "everything, plain x86-64", all, true);
   if (__builtin_cpu_supports("avx2"))
      measure_sums();
   harness_close(&harness);
   free(source);
   free(ptx);
   return !good;
}
