/* A wait on a condition with a time limit (timed_wait.h).  Owns nothing. */
#include "system/timed_wait.h"

#include <time.h>

void rkb_timed_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, unsigned milliseconds) {
   struct timespec until;
   clock_gettime(CLOCK_MONOTONIC, &until);
   until.tv_sec += milliseconds / 1000;
   until.tv_nsec += milliseconds % 1000 * 1000000;
   until.tv_sec += until.tv_nsec / 1000000000;
   until.tv_nsec %= 1000000000;
   pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &until);
}
