// why: the wait as libraries write it: a loop in one piece of assembly, with an order, a scope and a time; without it nothing is waited for
// buffer: y out f32 64
// launch: labels grid=1 block=64 args=y
// expect: pass
// broken: reject race.shared
#include "mbarriers.cuh"
__device__ __forceinline__ void wait_here(unsigned bar, unsigned parity) {
   asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 P1, [%0], %1, %2;\n@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}" ::"r"(bar), "r"(parity), "r"(0x989680) : "memory");
}
extern "C" __global__ void labels(float *y) {
   __shared__ float room[2][32];
   __shared__ unsigned long long ready[2];
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
   if (threadIdx.x == 0) {
      bar_init(&ready[0], 32);
      bar_init(&ready[1], 32);
   }
   __syncthreads();
   room[warp][lane] = threadIdx.x;
   unsigned long long state;
   asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(ROOM(&ready[warp])) : "memory");
#ifndef BROKEN
   wait_here(ROOM(&ready[1 - warp]), 0);
#endif
   y[threadIdx.x] = room[1 - warp][lane];
   if (lane == 99)
      wait_here(ROOM(&ready[0]), 0);
}
