// why: threads write global memory, fence it for the async proxy, and a bulk copy of the same launch reads it; in the broken one the fence comes
// why: before what they write
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
#ifdef BROKEN
   asm volatile("fence.proxy.async.global;" ::: "memory");
#endif
   for (int n = threadIdx.x; n < 256; n += 64)
      kept[n] = x[n] + 1;
   __syncthreads();
   if (threadIdx.x == 0) {
#ifndef BROKEN
      asm volatile("fence.proxy.async.global;" ::: "memory");
#endif
      bar_expect(&full, 1024);
      bulk_load(room, kept, 1024, &full);
   }
   bar_wait(&full, 0);
   for (int n = threadIdx.x; n < 256; n += 64)
      y[n] = room[255 - n];
}
