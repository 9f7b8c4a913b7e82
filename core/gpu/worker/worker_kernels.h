/* The worker's own kernels and their memory: one that empties the second-level cache by reading; the anchors, which show whether
 * two sittings ran under the same conditions; the tuned copy, which measures the fastest possible data movement; the mixture of two
 * sets of inputs; and the search for damaged canaries.  One thread. */
#ifndef RKB_GPU_WORKER_WORKER_KERNELS_H
#define RKB_GPU_WORKER_WORKER_KERNELS_H

#include <stdint.h>
#include "gpu/worker/driver.h"

/* Name and parameters of the copy, for plans that launch it: u64 from, u64 to, u64 vectors read, u64 vectors written.  A vector has
 * 16 bytes; any grid is allowed. */
#define RKB_OWN_COPY "rkb_copy"

/* The time of a copy depends by several per cent on which pages it gets.  So the copy anchor alternates between several allocations: their
 * mean measures the memory, while a single one would measure its pages. */
enum { RKB_ANCHOR_PLACES = 16 };

typedef struct rkb_worker_kernels {
   CUmodule module;
   CUfunction read, copy, chain, look, mix, sum;
   CUdeviceptr memory; /* read, never written after it was made: 2.5 times the second-level cache */
   uint64_t bytes;
   CUdeviceptr source[RKB_ANCHOR_PLACES], target[RKB_ANCHOR_PLACES]; /* moved by the copy anchor */
   uint32_t places;  /* allocated places: at least one, as many as fit a small part of the memory */
   CUdeviceptr flag; /* RKB_MOST_SUMS double words */
   CUevent start, stop;
} rkb_worker_kernels_t;

enum { RKB_MOST_SUMS = 64 }; /* sums in progress at once */

enum rkb_anchor { RKB_ANCHOR_COPY = 0, RKB_ANCHOR_CHAIN = 1 };

const char *rkb_worker_kernels_ptx(void); /* the PTX that is loaded */
/* Loads the kernels and allocates their memory. */
CUresult rkb_worker_kernels_open(const rkb_driver_t *driver, rkb_worker_kernels_t *own);

/* Reads all of memory, on the driver's stream. */
CUresult rkb_flush_read(const rkb_driver_t *driver, const rkb_worker_kernels_t *own);
/* Makes persisting lines ordinary, then reads all of memory. */
CUresult rkb_flush(const rkb_driver_t *driver, const rkb_worker_kernels_t *own);
/* Enqueues an anchor, which is the same work every time: a copy of 64 MiB, limited by memory, or one block's chain of dependent
 * additions, limited by the clock.  place: any number; it selects the copy's allocations in turn. */
CUresult rkb_anchor(const rkb_driver_t *driver, const rkb_worker_kernels_t *own, enum rkb_anchor which, uint32_t place);

/* begin enqueues a reset.  look enqueues a search for a byte other than `byte`.  *found is valid after waiting for the stream. */
CUresult rkb_look_begin(const rkb_driver_t *driver, const rkb_worker_kernels_t *own);
CUresult rkb_look(const rkb_driver_t *driver, const rkb_worker_kernels_t *own, CUdeviceptr from, uint64_t bytes,
                  uint8_t byte);
CUresult rkb_look_end(const rkb_driver_t *driver, const rkb_worker_kernels_t *own, uint32_t *found);

/* Enqueues a mixture of two buffers, piece by piece of RKB_MIX_BYTES: a piece comes from `other` if its hash, which `key` decides, is
 * below `share`, otherwise from `own`.  So share / 2^32 of the pieces come from `other`. */
enum { RKB_MIX_BYTES = 16 };
uint64_t rkb_mix_word(uint64_t x); /* the hash of rkb_mix, and of sums */
CUresult rkb_mix(const rkb_driver_t *driver, const rkb_worker_kernels_t *kernels, CUdeviceptr own,
                 CUdeviceptr other, CUdeviceptr to, uint64_t bytes, uint32_t share, uint64_t key);

/* Sums as <rkb/ext/device.h> defines them.  begin resets; each sum is enqueued under a number below RKB_MOST_SUMS; end waits for the stream
 * and returns the first count sums. */
CUresult rkb_sums_begin(const rkb_driver_t *driver, const rkb_worker_kernels_t *own);
CUresult rkb_sum(const rkb_driver_t *driver, const rkb_worker_kernels_t *own, uint32_t number, CUdeviceptr from,
                 uint64_t bytes, uint64_t key);
CUresult rkb_sums_end(const rkb_driver_t *driver, const rkb_worker_kernels_t *own, uint32_t count, uint64_t *sums);

#endif
