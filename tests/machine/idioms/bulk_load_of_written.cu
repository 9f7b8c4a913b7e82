// why: threads write global memory, and a bulk copy of the same launch reads it behind a fence for the async proxy; in the broken one the fence
// why: is for shared memory alone
// buffer: x in f32 256 ramp
// buffer: kept scratch f32 256
// buffer: y out f32 256
// launch: rows grid=1 block=64 args=x,kept,y
// expect: pass
// broken: reject race.proxy
#include "mbarriers.cuh"
extern "C" __global__ void rows(const float *x, float *kept, float *y) {
   __shared__ __align__(128) float room[256];
   __shared__ unsigned long long full;
   if (threadIdx.x == 0) {
      bar_init(&full, 1);
      bar_fence();
   }
   for (int n = threadIdx.x; n < 256; n += 64)
      kept[n] = x[n] + 1;
#ifndef BROKEN
   asm volatile("fence.proxy.async.global;" ::: "memory");
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
      y[n] = room[255 - n];
}
