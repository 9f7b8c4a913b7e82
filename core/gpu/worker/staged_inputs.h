/* Input values on the device: those of the current session, by set and tensor, and those kept for later
 * sessions, by name.  A session that takes kept values shares them without a copy.  The caller checks with
 * rkb_sum whether they are undamaged.  Owns the memory; one thread. */
#ifndef RKB_GPU_WORKER_STAGED_INPUTS_H
#define RKB_GPU_WORKER_STAGED_INPUTS_H

#include <stdbool.h>
#include <stdint.h>
#include "gpu/worker/driver.h"
#include "gpu/protocol.h"

enum { RKB_MOST_KEPT = 1024 };

typedef struct rkb_staged {
   uint32_t set, tensor;
   CUdeviceptr data; /* 0: unused slot */
   uint64_t bytes;
   int32_t kept; /* index of the kept values that the slot shares; -1: the session's own memory */
} rkb_staged_t;

typedef struct rkb_kept {
   uint64_t name[2];
   CUdeviceptr data; /* 0: unused slot */
   uint64_t bytes;
   uint64_t used;   /* time of the last use; the least recently used values are freed first */
   uint32_t shared; /* number of the session's slots that share it */
} rkb_kept_t;

typedef struct rkb_values {
   rkb_staged_t staged[RKB_WORKER_MAX_STAGED];
   rkb_kept_t kept[RKB_MOST_KEPT];
   /* Bytes of all kept values, and their limit; above it the least recently used values are freed. */
   uint64_t kept_bytes, most_bytes;
   uint64_t clock;
} rkb_values_t;

/* Copies bytes to an offset of a tensor of the given total size; the first piece allocates the memory.  Returns an enum
 * rkb_worker_status; for NO_MEMORY and DRIVER, *driver is the driver's error. */
int rkb_values_stage(const rkb_driver_t *d, rkb_values_t *values, const rkb_worker_stage_t *where,
                     const void *data, size_t bytes, CUresult *driver);
/* The memory of (set, tensor); NULL when nothing is staged there. */
rkb_staged_t *rkb_values_find(rkb_values_t *values, uint32_t set, uint32_t tensor);
/* The memory of the tensor in another set, as many bytes; NULL when no other set has it. */
const rkb_staged_t *rkb_values_find_other(const rkb_values_t *values, uint32_t set, uint32_t tensor,
                                          uint64_t bytes);
/* Keeps staged values under a name.  Values that cannot be kept stay the session's own. */
void rkb_values_keep(const rkb_driver_t *d, rkb_values_t *values, uint32_t set, uint32_t tensor,
                     const uint64_t name[2]);
/* Lets the session share kept values.  False when there are none of that name and size, or no slot is free. */
bool rkb_values_take(const rkb_driver_t *d, rkb_values_t *values, uint32_t set, uint32_t tensor,
                     const uint64_t name[2], uint64_t bytes);
/* Releases one set of the session, or all sets. */
void rkb_values_drop(const rkb_driver_t *d, rkb_values_t *values, bool all, uint32_t set);
/* Frees kept values that are not in use; false when there was nothing to free. */
bool rkb_values_forget(const rkb_driver_t *d, rkb_values_t *values);

#endif
