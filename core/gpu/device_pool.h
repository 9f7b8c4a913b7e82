/* The devices that sessions take: one worker process and a spare for each.  Internal to core/gpu; devices.h is what others see.  Any
 * thread. */
#ifndef RKB_GPU_DEVICE_POOL_H
#define RKB_GPU_DEVICE_POOL_H

#include "gpu/devices.h"
#include "gpu/device_worker.h"

struct rkb_worker_route;

typedef struct rkb_pooled_device {
   rkb_device_worker_t worker, spare;
   const struct rkb_worker_route *route; /* how its worker is started */
   char number[12];                      /* number of the device on its machine */
   bool busy;
   bool refused; /* of another class than the first device, so it is never used */
   /* Its worker could not be started and is not tried again before this time; 0: it can be used. */
   uint64_t lost_until_ns;
   int lock;         /* file held while busy; -1 when not */
} rkb_pooled_device_t;

/* Takes a free device whose worker answers, and the lock by which programs share the device.  A device whose
 * worker does not start is left out for a while, and another one is taken.  RKB_ERR_TIMEOUT: no device was
 * free until the deadline.  RKB_ERR_CANCELLED: the wait was cancelled.  RKB_ERR_UNAVAILABLE: the last device
 * that was tried does not answer either. */
int rkb_device_take(rkb_devices_t *devices, const rkb_patience_t *patience, rkb_pooled_device_t **device,
                    rkb_error_t *err);
void rkb_device_give(rkb_devices_t *devices, rkb_pooled_device_t *device);

/* Starts another worker of the device under a tool.  words, NULL-terminated, come before the last word of the
 * command that starts a worker.  The worker's standard error goes to errors.  The caller owns the worker. */
int rkb_device_launch_under(const rkb_pooled_device_t *device, const char *const *words, int errors,
                            rkb_device_worker_t *worker, rkb_error_t *err);

/* Ensures that a worker is alive: the old one, the spare, or a new one of the first device's class.  Then
 * starts a spare. */
int rkb_device_ready(rkb_devices_t *devices, rkb_pooled_device_t *device, rkb_error_t *err);
/* Waits until the spare worker's context exists.  The creation of a context slows other contexts on the
 * device, so nothing may be timed or run against a deadline at the same time. */
void rkb_device_settle(rkb_pooled_device_t *device);

#endif
