/* Waits on conditions (system/timed_wait.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "system/timed_wait.h"

enum { FAST = 26 * 3600 };

/* Replaces the C library's function: the time of day is 26 hours ahead of the kernel's, as it is just after
 * it was set back. */
int clock_gettime(clockid_t clock, struct timespec *now) {
   const int status = (int)syscall(SYS_clock_gettime, clock, now);
   if (status == 0 && clock == CLOCK_REALTIME)
      now->tv_sec += FAST;
   return status;
}

/* By the time of day this wait would last 26 hours. */
static void the_time_of_day_moves_no_wait(void **state) {
   pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
   pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
   (void)state;
   alarm(60); /* ends a wait that does not end, and nothing else */
   pthread_mutex_lock(&mutex);
   rkb_timed_wait(&condition, &mutex, 20);
   pthread_mutex_unlock(&mutex);
   alarm(0);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(the_time_of_day_moves_no_wait)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
