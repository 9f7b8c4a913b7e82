/* rkb-bench-tensor - multiply-adds a second of the checking machine on one core, in processor time, on
 * products of bfloat16 matrices as fast kernels write them (tests/machine/kernels: gemm_bf16.cu with
 * cp.async, ldmatrix and mma, gemm_wgmma.cu and gemm_tma_wgmma.cu with wgmma).  Measures each level of
 * checks, and the sums alone, and compares them with the goal.  Exits with 1 when a run fails. */
#include "machine/machine_harness.h"
#include "machine/lanes/tensor_arithmetic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/file.h"
#include "base/usage.h"

/* How many runs are timed.  The shortest counts, because other work on a shared host makes a run longer, never shorter. */
#define RUNS 15
#define GOAL 2.0
#define EVERYTHING (RKB_MACHINE_RACES | RKB_MACHINE_SHADOW | RKB_MACHINE_TAINT)

static double now(void) {
   struct timespec t;
   clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
   return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void print_rate(const char *what, double products, double seconds) {
   printf("%-48s %7.2f G multiply-adds/s  %5.2f of the goal\n", what, products / seconds * 1e-9,
          products / seconds * 1e-9 / GOAL);
   fflush(stdout);
}

static bool measure(harness_t *harness, double products, const char *what, uint32_t checks, bool portable) {
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
   print_rate(what, products, best);
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

/* Reads a kernel from the source folder, which a build folder or a copy of one finds.  NULL: it is not there. */
static char *read_kernel(const char *name, const char *suffix) {
   char below[256];
   snprintf(below, sizeof below, "tests/machine/kernels/%s.%s", name, suffix);
   char *path = rkb_find_data(below), *text = path ? harness_read_file(path) : NULL;
   free(path);
   return text;
}

/* only: the number of the one level to measure, from 1 on; 0: all. */
static bool measure_kernel(const char *name, double products, int only) {
   char message[256] = "tests/machine/kernels of the source folder was not found, or does not have it";
   char *source = read_kernel(name, "cu"), *ptx = read_kernel(name, "ptx");
   harness_t harness;
   bool good = source && ptx && harness_open(&harness, source, ptx, message, sizeof message);
   if (good) {
      static const struct {
         const char *what;
         uint32_t checks;
         bool portable;
      } levels[] = {{"1: bounds, definedness", 0, false},
                    {"2: bounds, definedness, races", RKB_MACHINE_RACES, false},
                    {"3: bounds, definedness, shadow", RKB_MACHINE_SHADOW, false},
                    {"4: bounds, definedness, races, shadow, taint", EVERYTHING, false},
                    {"5: everything, plain x86-64", EVERYTHING, true}};
      printf("%s\n", name);
      for (int n = 0; n < (int)(sizeof levels / sizeof *levels); n++)
         if (!only || only == n + 1)
            good &= measure(&harness, products, levels[n].what, levels[n].checks, levels[n].portable);
      harness_close(&harness);
   } else {
      fprintf(stderr, "%s: %s\n", name, message);
   }
   free(source);
   free(ptx);
   return good;
}

int main(int argc, char **argv) {
   static const struct {
      const char *name;
      double products;
   } kernels[] = {{"gemm_bf16", 256.0 * 256.0 * 256.0},
                  {"gemm_wgmma", 256.0 * 256.0 * 512.0},
                  {"gemm_tma_wgmma", 256.0 * 256.0 * 512.0}};
   const int over = rkb_usage(
      argc, argv, 2,
      "usage: rkb-bench-tensor [KERNEL [LEVEL]]\n"
      "Prints the multiply-adds a second of the checking machine on products of bfloat16 matrices, at each level "
      "of checks (or at one, 1 to 5): of gemm_bf16, gemm_wgmma and gemm_tma_wgmma, or of one of them.\n");
   if (over >= 0)
      return over;
   bool good = true;
   for (size_t n = 0; n < sizeof kernels / sizeof *kernels; n++)
      if (argc < 2 || strcmp(argv[1], kernels[n].name) == 0)
         good &= measure_kernel(kernels[n].name, kernels[n].products, argc > 2 ? atoi(argv[2]) : 0);
   if (argc < 3 && __builtin_cpu_supports("avx2"))
      measure_sums();
   return !good;
}
