/* The lock by which programs share one GPU.  Thread-safe: every holder has a file of its own. */
#ifndef RKB_GPU_DEVICE_LOCK_H
#define RKB_GPU_DEVICE_LOCK_H

#include "gpu/device_worker.h"

/* Waits for the device of a worker's greeting.  *file, -1 at first, holds the lock and is to be closed whatever is returned, when it is not
 * -1.  RKB_ERR_TIMEOUT and RKB_ERR_CANCELLED as patience has it. */
int rkb_device_lock(const char *greeting, const rkb_patience_t *patience, int *file, rkb_error_t *err);

#endif
