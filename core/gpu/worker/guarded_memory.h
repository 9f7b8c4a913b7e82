/* Device memory of one buffer, plain or between unmapped pages.  Owns what it maps; one thread. */
#ifndef RKB_GPU_WORKER_GUARDED_MEMORY_H
#define RKB_GPU_WORKER_GUARDED_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include "gpu/worker/driver.h"
#include "gpu/worker/worker_kernels.h"

#define RKB_CANARY_BYTE 0xa5

typedef struct rkb_device_memory {
   CUdeviceptr start; /* start of the buffer */
   uint64_t bytes;
   CUdeviceptr mapped; /* first mapped byte; = start for plain memory */
   uint64_t mapped_bytes;
   CUdeviceptr reserved; /* 0: plain, from cuMemAlloc */
   uint64_t reserved_bytes;
   CUmemGenericAllocationHandle handle;
} rkb_device_memory_t;

/* Allocates a buffer.  placement: enum rkb_worker_placement.  alignment: the power of two that the candidate was promised.  CUDA_ERROR_OUT_OF_MEMORY and
 * other errors leave *memory empty. */
CUresult rkb_memory_open(const rkb_driver_t *driver, uint32_t placement, uint64_t bytes, uint32_t alignment,
                         rkb_device_memory_t *memory);
void rkb_memory_close(const rkb_driver_t *driver, rkb_device_memory_t *memory); /* an empty one is accepted */

/* Writes the canary into the mapped bytes beside the buffer; does nothing for plain memory. */
CUresult rkb_memory_arm(const rkb_driver_t *driver, const rkb_device_memory_t *memory);
/* Enqueues the search for a damaged byte in the canary; does nothing for plain memory. */
CUresult rkb_memory_look(const rkb_driver_t *driver, const rkb_worker_kernels_t *own, const rkb_device_memory_t *memory);
/* Reads the canary back.  *damaged: whether it changed.  before says on which side; distance is the number of bytes from the buffer's
 * edge to the nearest damage. */
CUresult rkb_memory_inspect(const rkb_driver_t *driver, const rkb_device_memory_t *memory, bool *damaged,
                            bool *before, uint64_t *distance);

#endif
