/* The lock by which programs share one GPU.  Any thread: each holder has its own file. */
#ifndef RKB_GPU_DEVICE_LOCK_H
#define RKB_GPU_DEVICE_LOCK_H

#include "gpu/device_worker.h"

/* Waits for the device of a worker's greeting.  place: "" for this machine; for another machine, a text that
 * identifies it, because its devices may have the same places on their bus.  *file must be -1 before;
 * afterwards it holds the lock, and the caller closes it if it is not -1, whatever is returned.
 * RKB_ERR_TIMEOUT or RKB_ERR_CANCELLED when patience ends. */
int rkb_device_lock(const char *greeting, const char *place, const rkb_patience_t *patience, int *file,
                    rkb_error_t *err);

#endif
