/* Divides a piece of work with independent parts among its caller and the free threads of a pool. */
#ifndef RKB_SYSTEM_PARALLEL_PARTS_H
#define RKB_SYSTEM_PARALLEL_PARTS_H

#include "system/workers.h"

/* Calls part(argument, n) once for every n below count, with n taken in ascending order, on the calling thread and on threads of the
 * pool that are or become free.  Returns when every call has returned.  Any thread may call it, also inside a task of the pool,
 * because it waits only for threads that already work on a part. */
void rkb_workers_run_parts(rkb_workers_t *workers, uint32_t count, void (*part)(void *argument, uint32_t n),
                           void *argument);

#endif
