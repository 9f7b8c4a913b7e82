/* The part of driver_double.c that maps memory and encodes tensor maps.  Owns nothing of its own; one thread. */
#include <cuda.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *property,
                                       CUmemAllocationGranularity_flags flags) {
   (void)property, (void)flags;
   *bytes = 2 << 20;
   return CUDA_SUCCESS;
}
/* Mapped memory is all there from the start, and its edges are not guarded. */
CUresult cuMemAddressReserve(CUdeviceptr *start, size_t bytes, size_t alignment, CUdeviceptr hint,
                             unsigned long long flags) {
   (void)hint, (void)flags;
   void *memory = mmap(NULL, bytes + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   *start = ((CUdeviceptr)(uintptr_t)memory + alignment - 1) / alignment * alignment;
   return memory == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}
CUresult cuMemAddressFree(CUdeviceptr start, size_t bytes) {
   munmap((void *)(uintptr_t)start, bytes);
   return CUDA_SUCCESS;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *property,
                     unsigned long long flags) {
   (void)property, (void)flags;
   *handle = bytes;
   return CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
   (void)handle;
   return CUDA_SUCCESS;
}
CUresult cuMemMap(CUdeviceptr start, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
   (void)start, (void)bytes, (void)offset, (void)handle, (void)flags;
   return CUDA_SUCCESS;
}
CUresult cuMemUnmap(CUdeviceptr start, size_t bytes) {
   (void)start, (void)bytes;
   return CUDA_SUCCESS;
}
CUresult cuMemSetAccess(CUdeviceptr start, size_t bytes, const CUmemAccessDesc *access, size_t count) {
   (void)start, (void)bytes, (void)access, (void)count;
   return CUDA_SUCCESS;
}
/* No plan of these tests has a tensor map; the worker only wants to find the function. */
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill) {
   (void)map, (void)type, (void)rank, (void)address, (void)dims, (void)strides, (void)box, (void)steps;
   (void)interleave, (void)swizzle, (void)promotion, (void)fill;
   return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuTensorMapEncodeIm2col(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                 const cuuint64_t *dims, const cuuint64_t *strides, const int *lower,
                                 const int *upper, cuuint32_t channels, cuuint32_t pixels,
                                 const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                 CUtensorMapFloatOOBfill fill) {
   (void)map, (void)type, (void)rank, (void)address, (void)dims, (void)strides, (void)lower, (void)upper,
      (void)channels;
   (void)pixels, (void)steps, (void)interleave, (void)swizzle, (void)promotion, (void)fill;
   return CUDA_ERROR_NOT_SUPPORTED;
}
