// why: the first factor in registers, which get other values once the product is done; the broken twin writes them before
// buffer: a in f16 1024 ramp
// buffer: b in f16 256 ramp
// buffer: y out f32 1024
// launch: k grid=1 block=128 args=a,b,y
// expect: pass
// broken: reject race.register
#include "warpgroups.cuh"
__device__ __forceinline__ void take(unsigned (&r)[4], const unsigned short *a) {
   const int t = threadIdx.x, row = t / 32 * 16 + t % 32 / 4, k = t % 4 * 2;
   for (int n = 0; n < 4; n++)
      r[n] = *(const unsigned *)&a[(row + n % 2 * 8) * 16 + k + n / 2 * 8];
}
extern "C" __global__ void k(const unsigned short *a, const unsigned short *b, float *y) {
   __shared__ __align__(128) unsigned short sb[256];
   float d[8] = {0, 0, 0, 0, 0, 0, 0, 0};
   unsigned r[4];
   fill(sb, b, 16);
   proxy_fence();
   __syncthreads();
   take(r, a);
   hold(d);
   group_fence();
   multiply_rows(d, r, plain(sb, 16));
   group_commit();
#ifndef BROKEN
   group_wait<0>();
#endif
   for (int n = 0; n < 4; n++)
      asm volatile("xor.b32 %0, %0, 0x80008000;" : "+r"(r[n])); /* signs */
   group_wait<0>();
   hold(d);
   group_fence();
   multiply_rows(d, r, plain(sb, 16));
   group_commit();
   group_wait<0>();
   hold(d);
   leave(y, d);
}
