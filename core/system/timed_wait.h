/* A wait on a condition with a time limit.  Any thread that holds the mutex. */
#ifndef RKB_SYSTEM_TIMED_WAIT_H
#define RKB_SYSTEM_TIMED_WAIT_H

#include <pthread.h>

/* Setting the time of day moves no such wait: by that clock a wait of milliseconds would last an hour when it is set back by one.
 * Returns when the condition is signalled, or after this many milliseconds, or spuriously: check again what you wait for. */
void rkb_timed_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, unsigned milliseconds);

#endif
