// why: a relaxed wait finds a phase complete, and a fence behind it makes the copy's bytes visible; in the broken one there is no fence
// buffer: x in f32 64 ramp
// buffer: y out f32 64
// launch: turn grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.async
#include "mbarriers.cuh"
extern "C" __global__ void turn(const float *x, float *y) {
   __shared__ __align__(128) float room[64];
   __shared__ unsigned long long full;
   unsigned done;
   if (threadIdx.x == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, 256);
      bulk_load(room, x, 256, &full);
   }
   __syncthreads();
   do
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(ROOM(&full)) : "memory");
   while (!done);
#ifndef BROKEN
   asm volatile("fence.acq_rel.cta;" ::: "memory");
#endif
   y[threadIdx.x] = room[63 - threadIdx.x];
}
