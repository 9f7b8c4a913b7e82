/* The CUDA driver and NVML, found at run time.  On a machine without them the worker still starts and reports what is missing.
 * One thread. */
#ifndef RKB_GPU_WORKER_DRIVER_H
#define RKB_GPU_WORKER_DRIVER_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

#define RKB_DRIVER_FUNCTIONS(X)                                                                              \
   X(cuInit)                                                                                                 \
   X(cuDriverGetVersion)                                                                                     \
   X(cuDeviceGetCount)                                                                                       \
   X(cuDeviceGet)                                                                                            \
   X(cuDeviceGetName)                                                                                        \
   X(cuDeviceTotalMem) X(cuDeviceGetAttribute) X(cuDeviceGetUuid) X(cuDeviceGetPCIBusId) X(cuCtxSynchronize) \
      X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) X(cuCtxResetPersistingL2Cache) X(cuMemGetInfo)          \
         X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuModuleGetGlobal)                   \
            X(cuFuncSetAttribute) X(cuFuncGetAttribute) X(cuFuncGetParamInfo) X(cuMemAlloc) X(cuMemFree) X(cuMemcpyHtoD)           \
               X(cuMemcpyDtoH) X(cuMemcpyDtoDAsync) X(cuMemsetD8Async) X(cuMemsetD16Async)                   \
                  X(cuMemsetD32Async) X(cuStreamCreate) X(cuStreamQuery) X(cuStreamSynchronize)              \
                     X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuGraphInstantiateWithFlags)            \
                        X(cuGraphLaunch) X(cuGraphDestroy) X(cuGraphExecDestroy) X(cuEventCreate)            \
                           X(cuEventRecord) X(cuEventQuery) X(cuEventElapsedTime) X(cuLaunchKernelEx)        \
                              X(cuMemGetAllocationGranularity) X(cuMemAddressReserve) X(cuMemAddressFree)    \
                                 X(cuMemCreate) X(cuMemRelease) X(cuMemMap) X(cuMemUnmap) X(cuMemSetAccess)  \
                                    X(cuGetErrorName) X(cuTensorMapEncodeTiled) X(cuTensorMapEncodeIm2col)

typedef struct rkb_driver {
#define X(name) __typeof__(&name) name;
   RKB_DRIVER_FUNCTIONS(X)
#undef X
   CUdevice device;
   CUcontext context;
   CUstream stream;
   size_t granularity; /* granularity of mapped memory */
   size_t l2_bytes;
   char name[96];
   char bus[32];
   int version; /* version of the driver's API: 13000 */
   int devices; /* number of devices that the driver shows to this process */
   void *nvml;  /* library handle, or NULL */
   void *nvml_device;
} rkb_driver_t;

/* Loads the driver, initialises device number `ordinal`, and makes its context and one stream.  false: message says why. */
bool rkb_driver_open(rkb_driver_t *driver, int ordinal, char *message, size_t size);
/* "CUDA_ERROR_ILLEGAL_ADDRESS" */
const char *rkb_driver_error(const rkb_driver_t *driver, CUresult status);
/* Clocks, temperature and throttle reasons as "name=value" lines; "" where NVML is missing.  Returns the length. */
size_t rkb_driver_state(const rkb_driver_t *driver, char *out, size_t size);

#endif
