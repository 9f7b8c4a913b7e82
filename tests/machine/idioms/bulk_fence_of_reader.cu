// why: one block writes rows and tells another by a flag, and that one reads them by a bulk copy: the reader fences for the async proxy once it was told; the broken one fences before it was told
// buffer: x in f32 256 ramp
// buffer: kept scratch f32 256
// buffer: flag scratch i32 1 zero
// buffer: y out f32 256
// launch: pass_on grid=2 block=64 args=x,kept,flag,y
// expect: pass
// broken: reject race.proxy
#include "mbarriers.cuh"
__device__ __forceinline__ void fence_rows() { asm volatile("fence.proxy.async.global;" ::: "memory"); }
extern "C" __global__ void pass_on(const float *x, float *kept, int *flag, float *y) {
   __shared__ __align__(128) float room[256];
   __shared__ unsigned long long full;
   if (blockIdx.x == 0) {
      for (int n = threadIdx.x; n < 256; n += 64)
         kept[n] = x[n] + 1;
      __threadfence();
      __syncthreads();
      if (threadIdx.x == 0)
         asm volatile("st.release.gpu.global.u32 [%0], 1;" :: "l"(flag) : "memory");
      return;
   }
   if (threadIdx.x == 0) {
      int told = 0;
      bar_init(&full, 1);
      bar_fence();
#ifdef BROKEN
      fence_rows();
#endif
      while (!told)
         asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(told) : "l"(flag) : "memory");
#ifndef BROKEN
      fence_rows();
#endif
      bar_expect(&full, 1024);
      bulk_load(room, kept, 1024, &full);
   }
   __syncthreads();
   bar_wait(&full, 0);
   for (int n = threadIdx.x; n < 256; n += 64)
      y[n] = room[255 - n];
}
