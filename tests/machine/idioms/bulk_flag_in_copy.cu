// why: a warp waits at the mbarrier of a bulk copy; the broken one polls a word that the copy writes, as if the other bytes came before it
// buffer: x in f32 64 ramp
// buffer: y out f32 32
// launch: k grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.async
#include "mbarriers.cuh"
extern "C" __global__ void k(const float *x, float *y) {
   __shared__ __align__(16) unsigned values[36];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
   }
   if (t < 36)
      values[t] = 0xffffffffu;
   proxy_fence();
   __syncthreads();
   if (t == 0) {
      bar_expect(&full, sizeof values);
      bulk_load(values, x, sizeof values, &full);
   }
   if (t >= 32) {
#ifdef BROKEN
      unsigned last = 0xffffffffu;
      while (t == 32 && last == 0xffffffffu)
         asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(last) : "r"(ROOM(&values[35])) : "memory");
      __syncwarp();
#else
      bar_wait(&full, 0);
#endif
      y[t - 32] = __uint_as_float(values[63 - t]);
   }
   bar_wait(&full, 0);
}
