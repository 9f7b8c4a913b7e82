// why: a lane arrives relaxed for its warp: what the others wrote must be known to it before its fence; in the broken one it learns of that behind the fence
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
      bar_init(&full, 2);
   __syncthreads();
#ifdef BROKEN
   asm volatile("fence.acq_rel.cta;" ::: "memory");
#endif
   room[t] = x[t];
   __syncwarp();
#ifndef BROKEN
   asm volatile("fence.acq_rel.cta;" ::: "memory");
#endif
   if (t % 32 == 0)
      asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" :: "r"(ROOM(&full)) : "memory");
   bar_wait(&full, 0);
   y[t] = room[63 - t];
}
