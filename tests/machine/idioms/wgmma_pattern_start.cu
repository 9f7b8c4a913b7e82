// why: a swizzled factor begins where its pattern of 1024 bytes does; the broken one is a row further
// buffer: a in f16 1024 ramp
// buffer: b in f16 256 ramp
// buffer: y out f32 1024
// launch: k grid=1 block=128 args=a,b,y
// expect: pass
// broken: reject memory.misaligned
#include "warpgroups.cuh"
extern "C" __global__ void k(const unsigned short *a, const unsigned short *b, float *y) {
   __shared__ __align__(1024) unsigned short sa[64 * 64 + 64], sb[16 * 64];
   float d[8] = {0, 0, 0, 0, 0, 0, 0, 0};
#ifndef BROKEN
   const int row = 0;
#else
   const int row = 128;
#endif
   for (int n = threadIdx.x; n < 64 * 64 + 64; n += 128)
      sa[n] = a[n % 1024];
   for (int n = threadIdx.x; n < 16 * 64; n += 128)
      sb[n] = b[n % 256];
   proxy_fence();
   __syncthreads();
   hold(d);
   group_fence();
   multiply<1>(d, swizzled(ROOM(sa) + row), swizzled(ROOM(sb)));
   group_commit();
   group_wait<0>();
   hold(d);
   leave(y, d);
}
