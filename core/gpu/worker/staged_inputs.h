/* Input values on the device: those of the session in hand, by set and tensor, and those kept for later sessions, by name.
 * A kept one that a session takes is shared with it, not copied; whether it still holds what it held is the caller's to ask
 * (rkb_sum).  Owns the memory; one thread. */
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
   int32_t kept; /* index of the kept values that this is; -1: the session's own memory */
} rkb_staged_t;

typedef struct rkb_kept {
   uint64_t name[2];
   CUdeviceptr data; /* 0: unused slot */
   uint64_t bytes;
   uint64_t used;   /* when it was last taken, for choosing what goes */
   uint32_t shared; /* slots of the session that are this */
} rkb_kept_t;

typedef struct rkb_values {
   rkb_staged_t staged[RKB_WORKER_MAX_STAGED];
   rkb_kept_t kept[RKB_MOST_KEPT];
   uint64_t kept_bytes, most_bytes; /* of all kept; above that the least recently used go */
   uint64_t clock;
} rkb_values_t;

/* Copies bytes to offset of a tensor of total bytes, taking memory for it with the first piece.  One of enum
 * rkb_worker_status; *driver says what the driver said when that is NO_MEMORY or DRIVER. */
int rkb_values_stage(const rkb_driver_t *d, rkb_values_t *values, const rkb_worker_stage_t *where,
                     const void *data, size_t bytes, CUresult *driver);
/* The memory behind (set, tensor); NULL when nothing is staged there. */
rkb_staged_t *rkb_values_find(rkb_values_t *values, uint32_t set, uint32_t tensor);
/* Keeps what is staged there under a name.  What cannot be kept stays the session's own. */
void rkb_values_keep(const rkb_driver_t *d, rkb_values_t *values, uint32_t set, uint32_t tensor,
                     const uint64_t name[2]);
/* Makes kept values this session's; false when there are none of that name and size, or no slot for them. */
bool rkb_values_take(const rkb_driver_t *d, rkb_values_t *values, uint32_t set, uint32_t tensor,
                     const uint64_t name[2], uint64_t bytes);
/* Ends the session's hold on one set, or on all. */
void rkb_values_drop(const rkb_driver_t *d, rkb_values_t *values, bool all, uint32_t set);
/* Frees what is kept and not in use; false when there was nothing. */
bool rkb_values_forget(const rkb_driver_t *d, rkb_values_t *values);

#endif
