/* rkb-bench-machine - thread-instructions a nanosecond of the checking machine on one core, at each level of checks, on a
 * 256^3 matrix product and a layer norm of 512 x 1024. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
   struct timespec t;
   clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
   return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool measure(const char *name, uint32_t checks, bool portable, double *rate) {
   char path[512], message[256] = "";
   harness_t harness;
   rkb_error_t err;
   rkb_machine_t *machine;
   rkb_machine_report_t report;
   snprintf(path, sizeof path, RKB_SOURCE_DIR "/tests/machine/kernels/%s.cu", name);
   char *source = harness_read_file(path);
   snprintf(path, sizeof path, RKB_SOURCE_DIR "/tests/machine/kernels/%s.ptx", name);
   char *ptx = harness_read_file(path);
   bool done = source && ptx && harness_open(&harness, source, ptx, message, sizeof message);
   if (!done) {
      fprintf(stderr, "%s: %s\n", path, message);
   } else {
      rkb_machine_options_t options = {.checks = checks, .portable = portable};
      double best = 1e9;
      done = rkb_machine_open(harness.module, &harness.plan, &options, &machine, &err) == RKB_OK;
      for (int run = 0; run < 5 && done; run++) {
         harness_fill(&harness, (uint32_t)run);
         double start = now();
         done = rkb_machine_run(machine, harness.data, &err) == RKB_OK;
         double taken = now() - start;
         best = taken < best ? taken : best;
         rkb_machine_report(machine, &report);
         done &= report.complete && !report.finding_count;
      }
      *rate = done ? (double)report.thread_instructions / best * 1e-9 : 0;
      printf("%-10s %-42s %8.1f M thread-instructions  %7.4f s  %6.3f /ns\n", name,
             portable                       ? "everything, plain x86-64"
             : checks == 0                  ? "bounds, definedness"
             : checks == RKB_MACHINE_RACES  ? "bounds, definedness, races"
             : checks == RKB_MACHINE_SHADOW ? "bounds, definedness, shadow"
                                            : "bounds, definedness, races, shadow, taint",
             (double)report.thread_instructions * 1e-6, best, *rate);
      rkb_machine_close(machine);
      harness_close(&harness);
   }
   free(source);
   free(ptx);
   return done;
}

int main(void) {
   static const char *const names[] = {"matmul", "layernorm"};
   const uint32_t all = RKB_MACHINE_RACES | RKB_MACHINE_SHADOW | RKB_MACHINE_TAINT;
   bool good = true;
   for (int n = 0; n < 2; n++) {
      double rate;
      good &= measure(names[n], 0, false, &rate);
      good &= measure(names[n], RKB_MACHINE_RACES, false, &rate);
      good &= measure(names[n], RKB_MACHINE_SHADOW, false, &rate);
      good &= measure(names[n], all, false, &rate);
      good &= measure(names[n], all, true, &rate);
   }
   return !good;
}
