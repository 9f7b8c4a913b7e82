/* A kernel that reads more than the second-level cache holds, and the two events of a timed run.  One thread. */
#ifndef RKB_WORKER_FLUSHER_H
#define RKB_WORKER_FLUSHER_H

#include "driver.h"

typedef struct rkb_flusher {
   CUmodule module;
   CUfunction read;
   CUdeviceptr memory; /* read, never written after it was made */
   uint64_t bytes;
   CUevent start, stop;
} rkb_flusher_t;

/* Loads the reading kernel and takes 2.5 times the second-level cache of memory. */
CUresult rkb_flusher_open(const rkb_driver_t *driver, rkb_flusher_t *flusher);

/* Reads it all, on the driver's stream, and forgets the lines marked persisting. */
CUresult rkb_flush(const rkb_driver_t *driver, const rkb_flusher_t *flusher);

#endif
