/* A wait on a condition with a time limit.  Any thread that holds the mutex. */
#ifndef RKB_SYSTEM_TIMED_WAIT_H
#define RKB_SYSTEM_TIMED_WAIT_H

#include <pthread.h>

/* Returns when the condition is signalled, after this many milliseconds, or for no reason; check your condition again.  Setting the time of day does not
 * change the wait.  (By the clock of the day, a wait would last an hour longer if somebody sets the clock back by an hour.) */
void rkb_timed_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, unsigned milliseconds);

#endif
