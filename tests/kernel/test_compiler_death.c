/* Why a compiler died: crashed, or for want of memory, told apart even where its parent is larger than its limit.  Shells play
 * the compiler. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "kernel/compiler_process.h"

#define LIMIT (256ull << 20)
#define LARGE (400u << 20)

static enum exchange_end end_of(const char *script, int *signal_number) {
   const char *const arguments[] = {"/bin/sh", "-c", script, NULL};
   const compiler_bounds_t bounds = {.cpu_ns = 60000000000ull, .memory = LIMIT, .wall_ns = 60000000000ull};
   compiler_process_t process = {.served = 0};
   rkb_error_t err = {0};
   char *payload = NULL;
   size_t length = 0;
   uint64_t cpu_ns = 0;
   if (compiler_process_start(&process, arguments, &err) != RKB_OK)
      fail_msg("%s", err.message);
   enum exchange_end end =
      compiler_process_exchange(&process, NULL, &bounds, &payload, &length, &cpu_ns, signal_number);
   free(payload);
   return end;
}

static const char crashes[] = "kill -SEGV $$";
/* Over seven tenths of the limit. */
static const char fills[] = "x=$(head -c 110000000 /dev/zero | tr '\\0' a); y=$x; sleep 0.5; kill -SEGV $$";

static void a_crash_is_a_crash(void **state) {
   (void)state;
   int signal_number = 0;
   assert_int_equal(end_of(crashes, &signal_number), EXCHANGE_DIED);
   assert_int_equal(signal_number, SIGSEGV);
   assert_int_equal(end_of(fills, &signal_number), EXCHANGE_MEMORY);
}

static void whatever_its_parent_holds(void **state) {
   (void)state;
   int signal_number = 0;
   char *held = malloc(LARGE);
   assert_non_null(held);
   memset(held, 1, LARGE);
   assert_int_equal(end_of(crashes, &signal_number), EXCHANGE_DIED);
   assert_int_equal(signal_number, SIGSEGV);
   assert_int_equal(end_of(fills, &signal_number), EXCHANGE_MEMORY);
   assert_int_equal(held[LARGE / 2], 1);
   free(held);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_crash_is_a_crash),
      cmocka_unit_test(whatever_its_parent_holds),
   };
   return RUN_TESTS(tests);
}
