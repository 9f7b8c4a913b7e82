/* The number of processors that this process may use (system/processors.h). */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "system/processors.h"

/* A process that is bound to some processors counts these alone, as under taskset or a batch system. */
static void only_allowed_processors_count(void **state) {
   (void)state;
   cpu_set_t allowed, one;
   assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
   assert_int_equal(rkb_processors(), CPU_COUNT(&allowed));
   CPU_ZERO(&one);
   for (int n = 0; n < CPU_SETSIZE && !CPU_COUNT(&one); n++)
      if (CPU_ISSET(n, &allowed))
         CPU_SET(n, &one);
   assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
   assert_int_equal(rkb_processors(), 1);
   assert_int_equal(sched_setaffinity(0, sizeof allowed, &allowed), 0);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(only_allowed_processors_count)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
