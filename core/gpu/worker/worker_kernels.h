/* The worker's own kernels and what they work on: emptying the second-level cache by reading it over, the anchors that say
 * whether two sittings were held under the same conditions, the tuned copy that a candidate's share of the possible is taken
 * against, and the search for damaged canaries.  One thread. */
#ifndef RKB_GPU_WORKER_WORKER_KERNELS_H
#define RKB_GPU_WORKER_WORKER_KERNELS_H

#include <stdint.h>
#include "gpu/worker/driver.h"

/* Name and parameters of the copy, for plans that launch it: u64 from, u64 to, u64 vectors read, u64 vectors written; a
 * vector has 16 bytes, and any grid will do. */
#define RKB_OWN_COPY "rkb_copy"

/* What a copy takes depends on the pages it happens to be given, by several per cent, so the copying anchor goes round
 * allocations of its own: their mean says what the device's memory does, one of them what its pages do. */
enum { RKB_ANCHOR_PLACES = 16 };

typedef struct rkb_own {
   CUmodule module;
   CUfunction read, copy, chain, look, sum;
   CUdeviceptr memory; /* read, never written after it was made: 2.5 times the second-level cache */
   uint64_t bytes;
   CUdeviceptr source[RKB_ANCHOR_PLACES], target[RKB_ANCHOR_PLACES]; /* what the copying anchor moves */
   uint32_t places;  /* as many of them as fit a small part of the memory; at least one */
   CUdeviceptr flag; /* RKB_MOST_SUMS double words */
   CUevent start, stop;
} rkb_own_t;

enum { RKB_MOST_SUMS = 64 }; /* in the making at once */

enum rkb_anchor { RKB_ANCHOR_COPY = 0, RKB_ANCHOR_CHAIN = 1 };

const char *rkb_own_ptx(void); /* what is loaded */
/* Loads the kernels and takes the memory. */
CUresult rkb_own_open(const rkb_driver_t *driver, rkb_own_t *own);

/* Reads all of memory, on the driver's stream. */
CUresult rkb_flush_read(const rkb_driver_t *driver, const rkb_own_t *own);
/* Forgets the lines marked persisting, then reads. */
CUresult rkb_flush(const rkb_driver_t *driver, const rkb_own_t *own);
/* Enqueues the same work every time: a copy of 64 MiB, bound by memory, or one block's chain of dependent additions, bound
 * by the clock.  place: any number; the copy takes its allocations in turn. */
CUresult rkb_anchor(const rkb_driver_t *driver, const rkb_own_t *own, enum rkb_anchor which, uint32_t place);

/* Enqueues: forget what was found; look for a byte other than byte; *found after the stream has been waited for. */
CUresult rkb_look_begin(const rkb_driver_t *driver, const rkb_own_t *own);
CUresult rkb_look(const rkb_driver_t *driver, const rkb_own_t *own, CUdeviceptr from, uint64_t bytes,
                  uint8_t byte);
CUresult rkb_look_end(const rkb_driver_t *driver, const rkb_own_t *own, uint32_t *found);

/* Sums as <rkb/ext/device.h> defines them.  begin forgets those before; each is enqueued under a number below RKB_MOST_SUMS; end
 * waits for the stream and brings the first count of them. */
CUresult rkb_sums_begin(const rkb_driver_t *driver, const rkb_own_t *own);
CUresult rkb_sum(const rkb_driver_t *driver, const rkb_own_t *own, uint32_t number, CUdeviceptr from,
                 uint64_t bytes, uint64_t key);
CUresult rkb_sums_end(const rkb_driver_t *driver, const rkb_own_t *own, uint32_t count, uint64_t *sums);

#endif
