// why: one test of a phase may fail, so what follows it must not rely on it
// buffer: y out f32 64
// launch: once grid=1 block=64 args=y
// expect: pass
// broken: reject race.shared
#include "mbarriers.cuh"
extern "C" __global__ void once(float *y) {
   __shared__ float room[64];
   __shared__ unsigned long long all;
   if (threadIdx.x == 0)
      bar_init(&all, 64);
   __syncthreads();
   room[threadIdx.x] = threadIdx.x;
   unsigned long long state;
   asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(ROOM(&all)) : "memory");
   unsigned done;
   do
      asm volatile("{ .reg .pred p; mbarrier.try_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(ROOM(&all)), "l"(state) : "memory");
#ifndef BROKEN
   while (!done);
#else
   while (false);
#endif
   y[threadIdx.x] = room[63 - threadIdx.x];
}
