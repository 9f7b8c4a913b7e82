// why: copies by single threads that an mbarrier waits for; with .noinc they are arrivals of the count; an arrival before the copies are
// why: done says nothing of them
// buffer: x in f32 256 noise
// buffer: y out f32 64
// launch: copy grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.async
#include "mbarriers.cuh"
extern "C" __global__ void copy(const float *x, float *y) {
   __shared__ __align__(16) float room[256];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   if (t == 0)
      bar_init(&full, 64);
   __syncthreads();
   asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(ROOM(&room[4 * t])), "l"(x + 4 * t) : "memory");
#ifndef BROKEN
   asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(ROOM(&full)) : "memory");
#else
   bar_arrive(&full);
#endif
   bar_wait(&full, 0);
   y[t] = room[255 - t] + room[t];
}
