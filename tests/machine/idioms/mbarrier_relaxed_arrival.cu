// why: threads write, fence and arrive relaxed, and others who waited see what they wrote; the broken one writes behind the fence
// buffer: x in f32 64 ramp
// buffer: y out f32 64
// launch: turn grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.shared
#include "mbarriers.cuh"
extern "C" __global__ void turn(const float *x, float *y) {
   __shared__ float room[64];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   if (t == 0)
      bar_init(&full, 64);
   __syncthreads();
#ifndef BROKEN
   room[t] = x[t];
#endif
   asm volatile("fence.acq_rel.cta;" ::: "memory");
#ifdef BROKEN
   room[t] = x[t];
#endif
   asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" :: "r"(ROOM(&full)) : "memory");
   bar_wait(&full, 0);
   y[t] = room[63 - t];
}
