/* Where the variables of a module lie on the device, and what they held after loading.  The worker owns one for each module; one thread. */
#ifndef RKB_GPU_WORKER_MODULE_VARIABLES_H
#define RKB_GPU_WORKER_MODULE_VARIABLES_H

#include "gpu/worker/driver.h"

/* A variable on the device.  The driver places each by itself: the variables of one section of a cubin do not lie together. */
typedef struct rkb_variable_place {
   CUdeviceptr start;
   CUdeviceptr initial; /* owned: a copy of what was there after loading; 0: zeros */
   uint64_t bytes;
} rkb_variable_place_t;

typedef struct rkb_variables {
   rkb_variable_place_t *places; /* owned */
   uint32_t count;
} rkb_variables_t;

/* Finds the variables that kernels can write and copies their contents.  Call it before any kernel of the module runs.  Returns an enum
 * rkb_worker_status: RKB_WORKER_BAD_MODULE if the module has more than 4,096 of them, RKB_WORKER_NO_MEMORY, RKB_WORKER_DRIVER.  After a
 * failure there is nothing to close, and message says why. */
int rkb_variables_open(const rkb_driver_t *driver, CUmodule module, const void *cubin, size_t bytes,
                       rkb_variables_t *variables, char *message, size_t size);
/* Gives every variable the contents that it had after loading.  Enqueues on the stream; does not wait. */
CUresult rkb_variables_reset(const rkb_driver_t *driver, const rkb_variables_t *variables);
void rkb_variables_close(const rkb_driver_t *driver, rkb_variables_t *variables);

#endif
