/* Routes: how the workers of one address are started.  Immutable once set; any thread. */
#ifndef RKB_GPU_WORKER_ROUTE_H
#define RKB_GPU_WORKER_ROUTE_H

#include "gpu/device_worker.h"

/* One address, resolved: how the workers of its machine are started. */
typedef struct rkb_worker_route {
   rkb_worker_command_t command; /* without the device's number */
   /* The wanted class, or NULL; the text belongs to the caller that opened the pool. */
   const char *device;
   /* Distinguishes its locks from those of other machines; "" for this machine. */
   char place[17];
} rkb_worker_route_t;

/* Sets the command: words, NULL-terminated, or NULL for a worker on this machine.  False when there is none or it is too
 * long. */
bool rkb_worker_route_set(rkb_worker_route_t *route, const char *const *command);
/* Starts a worker for the device of this number.  words, NULL-terminated, is the command of a tool, or NULL; it comes
 * before the last word of the route's command.  errors: as in rkb_device_worker_launch. */
int rkb_worker_route_launch(const rkb_worker_route_t *route, const char *number, const char *const *words,
                            int errors, rkb_device_worker_t *worker, rkb_error_t *err);

#endif
