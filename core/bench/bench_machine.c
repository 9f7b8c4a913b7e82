/* rkb-bench-machine - thread-instructions a nanosecond of the checking machine on one core, at each level of
 * checks, on a 256^3 matrix product and a layer norm of 512 x 1024.  The same run also measures a plain
 * interpreter, which executes one thread at a time and has the checks of one of the levels (plain_interpreter.h).
 * Prints the ratio of the two, and compares both with the goals.  Exits with 1 when a run fails, or when the
 * plain interpreter finds nothing wrong in the kernels whose barriers were removed. */
#include "machine/machine_harness.h"
#include "bench/plain_interpreter.h"
#include "base/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
   struct timespec t;
   clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
   return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* How many runs are timed.  The shortest counts, because other work on a shared host makes a run longer, never shorter. */
#define RUNS 25
#define INTERPRETER_RUNS 5

static bool open_kernel(harness_t *harness, const char *name, bool barriers) {
   char path[512], message[256] = "";
   snprintf(path, sizeof path, RKB_SOURCE_DIR "/tests/machine/kernels/%s.cu", name);
   char *source = harness_read_file(path);
   snprintf(path, sizeof path, RKB_SOURCE_DIR "/tests/machine/kernels/%s.ptx", name);
   char *ptx = harness_read_file(path);
   for (char *at = ptx; at && !barriers && (at = strstr(at, "bar.sync"));)
      at[0] = at[1] = '/'; /* this makes the rest of the line a comment */
   bool done = source && ptx && harness_open(harness, source, ptx, message, sizeof message);
   if (!done)
      fprintf(stderr, "%s: %s\n", path, message);
   free(source);
   free(ptx);
   return done;
}

static double print_rate(const char *name, const char *what, uint64_t instructions, double seconds) {
   const double rate = (double)instructions / seconds * 1e-9;
   printf("%-10s %-42s %8.1f M thread-instructions  %7.4f s  %6.3f /ns\n", name, what,
          (double)instructions * 1e-6, seconds, rate);
   return rate;
}

static bool measure(const char *name, uint32_t checks, bool portable, double *rate) {
   harness_t harness;
   rkb_error_t err;
   rkb_machine_t *machine;
   rkb_machine_report_t report = {0};
   if (!open_kernel(&harness, name, true))
      return false;
   rkb_machine_options_t options = {.checks = checks, .portable = portable};
   double best = 1e9;
   bool done = rkb_machine_open(harness.module, &harness.plan, &options, &machine, &err) == RKB_OK;
   for (int run = 0; run < RUNS && done; run++) {
      harness_fill(&harness, (uint32_t)run);
      double start = now();
      done = rkb_machine_run(machine, harness.data, &err) == RKB_OK;
      double taken = now() - start;
      best = taken < best ? taken : best;
      rkb_machine_report(machine, &report);
      done &= report.complete && !report.finding_count;
   }
   *rate = print_rate(name,
                      portable                       ? "everything, plain x86-64"
                      : checks == 0                  ? "bounds, definedness"
                      : checks == RKB_MACHINE_RACES  ? "bounds, definedness, races"
                      : checks == RKB_MACHINE_SHADOW ? "bounds, definedness, shadow"
                                                     : "bounds, definedness, races, shadow, taint",
                      report.thread_instructions, best);
   rkb_machine_close(machine);
   harness_close(&harness);
   return done;
}

static bool measure_interpreter(const char *name, bool barriers, double *rate) {
   harness_t harness;
   char message[256] = "out of memory";
   const char *found = "";
   double best = 1e9;
   uint64_t executed = 0;
   if (!open_kernel(&harness, name, barriers))
      return false;
   plain_interpreter_t *plain = plain_interpreter_open(&harness, message, sizeof message);
   if (!plain)
      fprintf(stderr, "%s: %s\n", name, message);
   for (int run = 0; run < INTERPRETER_RUNS && plain && !found[0]; run++) {
      harness_fill(&harness, (uint32_t)run);
      double start = now();
      executed = plain_interpreter_run(plain, &found);
      double taken = now() - start;
      best = taken < best ? taken : best;
   }
   if (plain && barriers && found[0])
      fprintf(stderr, "%s: the plain interpreter found %s\n", name, found);
   if (plain && !barriers && !found[0])
      fprintf(stderr, "%s: the plain interpreter found nothing without barriers\n", name);
   if (plain && barriers)
      *rate = print_rate(name, "plain interpreter: bounds, definedness, races", executed, best);
   const bool done = plain && barriers == !found[0];
   plain_interpreter_close(plain);
   harness_close(&harness);
   return done;
}

static void stand(const char *what, double value, double goal) {
   printf("   %-56s %6.2f  goal %5.2f  %s\n", what, value, goal, value >= goal ? "met" : "missed");
}

int main(int argc, char **argv) {
   const int over = rkb_usage(
      argc, argv, 0,
      "usage: rkb-bench-machine\n"
      "Thread-instructions a nanosecond of the checking machine, beside a plain scalar interpreter with the same checks.\n");
   if (over >= 0)
      return over;
   static const struct {
      const char *name;
      double races, everything, ratio; /* goals */
   } kernels[] = {{"matmul", 0.5, 0.25, 1.4}, {"layernorm", 1.2, 0.6, 2.5}};
   const uint32_t all = RKB_MACHINE_RACES | RKB_MACHINE_SHADOW | RKB_MACHINE_TAINT;
   bool good = true;
   for (int n = 0; n < 2; n++) {
      const char *name = kernels[n].name;
      double rate, races = 0, everything = 0, plain = 1;
      good &= measure(name, 0, false, &rate);
      good &= measure(name, RKB_MACHINE_RACES, false, &races);
      good &= measure_interpreter(name, true, &plain);
      good &= measure(name, RKB_MACHINE_SHADOW, false, &rate);
      good &= measure(name, all, false, &everything);
      good &= measure(name, all, true, &rate);
      good &= measure_interpreter(name, false, &rate);
      stand("with races and definedness, /ns", races, kernels[n].races);
      stand("everything, /ns", everything, kernels[n].everything);
      stand("with races and definedness, times the plain interpreter", races / plain, kernels[n].ratio);
   }
   return !good;
}
