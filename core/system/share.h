/* One piece of work in independent parts, done by its caller and by the free threads of a pool. */
#ifndef RKB_SYSTEM_SHARE_H
#define RKB_SYSTEM_SHARE_H

#include "system/workers.h"

/* Calls part(argument, n) once for every n below count, numbers taken in ascending order, on the calling thread and on threads
 * of the pool that are or become free; returns when every call has returned.  Any thread, a task of the pool among them: it
 * waits for no thread but those that already work on a part. */
void rkb_workers_share(rkb_workers_t *workers, uint32_t count, void (*part)(void *argument, uint32_t n),
                       void *argument);

#endif
