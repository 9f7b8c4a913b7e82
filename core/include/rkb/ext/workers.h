/* rkb/ext/workers.h - the worker pool, for a job whose work falls into independent parts.  Extension "rkb.workers/1".
 *
 * How many threads take part depends on --jobs and on what else is running, so results must not: give each part its own place
 * to write to, and join them in the order of their numbers.
 */
#ifndef RKB_EXT_WORKERS_H
#define RKB_EXT_WORKERS_H

#include <rkb/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_EXT_WORKERS "rkb.workers/1"

typedef struct rkb_workers_api {
   uint32_t size;
   uint32_t reserved;

   /* Calls part(argument, n) once for every n below count, on the calling thread and on workers that are free meanwhile, and
    * returns when all calls have returned.  Numbers are taken in ascending order: when part n is called, every lower one has
    * been called, so that a part may wait for a lower one to get somewhere.  The calling thread alone does it all when no
    * worker is free.  A part must not share again.  [worker] */
   void (*share)(const rkb_host_t *host, uint32_t count, void (*part)(void *argument, uint32_t n), void *argument);
} rkb_workers_api_t;

#ifdef __cplusplus
}
#endif
#endif
