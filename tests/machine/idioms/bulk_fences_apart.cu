// why: a copy reads global memory that threads wrote, and a store takes its rows from shared memory: each needs a fence for its own memory; the broken one
// why: has them in the wrong places
// buffer: x in f32 256 ramp
// buffer: kept scratch f32 256
// buffer: y out f32 256
// launch: rows grid=1 block=64 args=x,kept,y
// expect: pass
// broken: reject race.proxy
#include "mbarriers.cuh"
__device__ __forceinline__ void global_fence() { asm volatile("fence.proxy.async.global;" ::: "memory"); }
extern "C" __global__ void rows(const float *x, float *kept, float *y) {
   __shared__ __align__(128) float room[256], out[256];
   __shared__ unsigned long long full;
   if (threadIdx.x == 0) {
      bar_init(&full, 1);
      bar_fence();
   }
   for (int n = threadIdx.x; n < 256; n += 64)
      kept[n] = x[n] + 1;
#ifndef BROKEN
   global_fence();
#else
   proxy_fence();
#endif
   __syncthreads();
   if (threadIdx.x == 0) {
      bar_expect(&full, 1024);
      bulk_load(room, kept, 1024, &full);
   }
   bar_wait(&full, 0);
   for (int n = threadIdx.x; n < 256; n += 64)
      out[n] = room[255 - n];
#ifndef BROKEN
   proxy_fence();
#else
   global_fence();
#endif
   __syncthreads();
   if (threadIdx.x == 0) {
      bulk_store(y, out, 1024);
      bulk_commit();
      bulk_wait<0>();
   }
}
