// why: a warp writes rows and tells of them by a flag, and a thread of another one stores them by a bulk copy behind its own proxy fence; in the broken one that
// why: fence comes before the flag is seen
// buffer: x in f32 32 ramp
// buffer: y out f32 32
// launch: k grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.proxy
#include "mbarriers.cuh"
extern "C" __global__ void k(const float *x, float *y) {
   __shared__ __align__(128) float room[32];
   __shared__ unsigned ready;
   const int t = threadIdx.x;
   if (t == 0)
      ready = 0;
   __syncthreads();
   if (t < 32) {
      room[t] = x[31 - t];
      __syncwarp();
      if (t == 0)
         asm volatile("st.release.cta.shared.u32 [%0], 1;" :: "r"(ROOM(&ready)) : "memory");
   } else if (t == 32) {
      unsigned told = 0;
#ifdef BROKEN
      proxy_fence();
#endif
      while (!told)
         asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(told) : "r"(ROOM(&ready)) : "memory");
#ifndef BROKEN
      proxy_fence();
#endif
      bulk_store(y, room, 128);
      bulk_commit();
      bulk_wait_read<0>();
   }
}
