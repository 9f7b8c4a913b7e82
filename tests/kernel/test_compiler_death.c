/* Why a compiler died: a crash and a lack of memory are told apart, even where the compiler's parent is
 * larger than its limit.  Shells stand for the compiler. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "kernel/compiler_process.h"

#define LIMIT (256ull << 20)
#define LARGE (400u << 20)

/* The exchange looks at the memory of its process and then asks whether it was cancelled.  When it asks for
 * the second time with much memory in use, it has seen that memory, and the process is made to crash. */
typedef struct crash {
   compiler_process_t *process;
   int seen;
} crash_t;

static uint64_t resident_kilobytes(pid_t pid) {
   char path[64], line[128];
   unsigned long kilobytes = 0;
   snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
   FILE *file = fopen(path, "r");
   while (file && kilobytes == 0 && fgets(line, sizeof line, file))
      if (sscanf(line, "VmRSS: %lu", &kilobytes) != 1)
         kilobytes = 0;
   if (file)
      fclose(file);
   return kilobytes;
}

static bool nobody_cancels(void *argument) {
   (void)argument;
   return false;
}

static bool crash_when_full(void *argument) {
   crash_t *crash = argument;
   const pid_t pid = crash->process->peer.pid;
   crash->seen += resident_kilobytes(pid) * 1024 > LIMIT / 10 * 7;
   if (crash->seen == 2)
      kill(pid, SIGSEGV);
   return false;
}

/* crashed: the process is crashed from here once it has filled its memory. */
static enum exchange_end end_of(const char *script, bool crashed, int *signal_number) {
   const char *const arguments[] = {"/bin/sh", "-c", script, NULL};
   compiler_process_t process = {0};
   crash_t crash = {.process = &process};
   const compiler_bounds_t bounds = {.cpu_ns = 600000000000ull,
                                     .memory = LIMIT,
                                     .wall_ns = 600000000000ull,
                                     .cancelled = crashed ? crash_when_full : nobody_cancels,
                                     .argument = &crash};
   rkb_error_t err = {0};
   char *payload = NULL;
   size_t length = 0;
   if (compiler_process_start(&process, arguments, &err) != RKB_OK)
      fail_msg("%s", err.message);
   enum exchange_end end =
      compiler_process_exchange(&process, NULL, &bounds, &payload, &length, signal_number);
   free(payload);
   return end;
}

static const char crashes[] = "kill -SEGV $$";
/* Over seven tenths of the limit; it crashes when that was seen. */
static const char fills[] = "x=$(head -c 110000000 /dev/zero | tr '\\0' a); y=$x; while :; do :; done";

static const char fills_and_is_killed[] = "x=$(head -c 110000000 /dev/zero | tr '\\0' a); kill -KILL $$";

static void a_crash_is_a_crash(void **state) {
   (void)state;
   int signal_number = 0;
   assert_int_equal(end_of(crashes, false, &signal_number), EXCHANGE_DIED);
   assert_int_equal(signal_number, SIGSEGV);
   assert_int_equal(end_of(fills, true, &signal_number), EXCHANGE_MEMORY);
}

/* However much it held: what kills outright is not the compiler's own limit. */
static void a_kill_is_no_limit(void **state) {
   (void)state;
   int signal_number = 0;
   assert_int_equal(end_of(fills_and_is_killed, false, &signal_number), EXCHANGE_DIED);
   assert_int_equal(signal_number, SIGKILL);
}

static void whatever_its_parent_holds(void **state) {
   (void)state;
   int signal_number = 0;
   char *held = malloc(LARGE);
   assert_non_null(held);
   memset(held, 1, LARGE);
   assert_int_equal(end_of(crashes, false, &signal_number), EXCHANGE_DIED);
   assert_int_equal(signal_number, SIGSEGV);
   assert_int_equal(end_of(fills, true, &signal_number), EXCHANGE_MEMORY);
   assert_int_equal(held[LARGE / 2], 1);
   free(held);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_crash_is_a_crash),
      cmocka_unit_test(a_kill_is_no_limit),
      cmocka_unit_test(whatever_its_parent_holds),
   };
   return RUN_TESTS(tests);
}
