/* A wait for a condition that ends by itself.  Any thread that holds the mutex. */
#ifndef RKB_SYSTEM_TIMED_WAIT_H
#define RKB_SYSTEM_TIMED_WAIT_H

#include <pthread.h>

/* Returns when the condition is signalled, after so many milliseconds at the latest, and sometimes for no reason: look again at what you wait for. */
void rkb_timed_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, unsigned milliseconds);

#endif
