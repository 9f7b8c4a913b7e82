/* Timed runs for a process that already has a context.  PyTorch's context is the device's primary context, as the worker's is.  The caller
 * enqueues its work between start and stop on its own stream.  One thread. */
#include <stdio.h>
#include "gpu/worker/driver.h"
#include "gpu/worker/worker_kernels.h"

#define EXPORTED __attribute__((visibility("default")))

/* Global, because callers through ctypes hold no state.  A process opens one device, once. */
static rkb_driver_t driver;
static rkb_worker_kernels_t own;

/* Returns 0, or 1 with a sentence in message. */
EXPORTED int rkb_timing_open(int ordinal, char *message, size_t size) {
   if (!rkb_driver_open(&driver, ordinal, message, size))
      return 1;
   CUresult status = rkb_worker_kernels_open(&driver, &own);
   if (status != CUDA_SUCCESS)
      snprintf(message, size, "preparing to empty the second-level cache: %s",
               rkb_driver_error(&driver, status));
   return status != CUDA_SUCCESS;
}

EXPORTED const char *rkb_timing_bus(void) {
   return driver.bus;
}
EXPORTED const char *rkb_timing_device(void) {
   return driver.name;
}
EXPORTED int rkb_timing_driver(void) {
   return driver.version;
}

/* Enqueues `times` readings of the cache's content on stream.  More than one keeps the device busy while the caller enqueues work.
 * Returns a CUresult, as do the next functions. */
EXPORTED int rkb_timing_flush(void *stream, int times) {
   CUresult status;
   driver.stream = stream;
   status = rkb_flush(&driver, &own);
   for (int i = 1; i < times && status == CUDA_SUCCESS; i++)
      status = rkb_flush_read(&driver, &own);
   return (int)status;
}

EXPORTED int rkb_timing_start(void *stream) {
   return (int)driver.cuEventRecord(own.start, stream);
}
EXPORTED int rkb_timing_stop(void *stream) {
   return (int)driver.cuEventRecord(own.stop, stream);
}

/* Waits for stop's event. */
EXPORTED int rkb_timing_elapsed(void *stream, float *milliseconds) {
   CUresult status = driver.cuStreamSynchronize(stream);
   return (int)(status == CUDA_SUCCESS ? driver.cuEventElapsedTime(milliseconds, own.start, own.stop)
                                       : status);
}

/* Enqueues an anchor (enum rkb_anchor) on stream; place selects the copy's allocations.  The worker times the same anchors. */
EXPORTED int rkb_timing_anchor(void *stream, int which, unsigned place) {
   driver.stream = stream;
   return (int)rkb_anchor(&driver, &own, which ? RKB_ANCHOR_CHAIN : RKB_ANCHOR_COPY, place);
}

/* Writes clocks, temperature and throttle reasons as "name=value" lines. */
EXPORTED size_t rkb_timing_state(char *out, size_t size) {
   return rkb_driver_state(&driver, out, size);
}
