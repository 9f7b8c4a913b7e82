// why: a warp copies, waits, fences for the async proxy and arrives, and a bulk store sends on what it copied; the broken one does not wait for its copies
// buffer: x in f32 512 ramp
// buffer: y out f32 512
// launch: k grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.async
#include "mbarriers.cuh"
extern "C" __global__ void k(const float *x, float *y) {
   __shared__ __align__(128) float r[512];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   if (t == 0)
      bar_init(&full, 32);
   __syncthreads();
   if (t >= 32) {
      for (int n = t - 32; n < 128; n += 32)
         asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(ROOM(r + n * 4)), "l"(x + n * 4) : "memory");
#ifndef BROKEN
      asm volatile("cp.async.wait_all;" ::: "memory");
#endif
      proxy_fence();
      bar_arrive(&full);
      return;
   }
   bar_wait(&full, 0);
   if (t == 0) {
      bulk_store(y, r, 2048);
      bulk_commit();
      bulk_wait<0>();
   }
}
