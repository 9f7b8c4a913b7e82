// why: the descriptor is one for the four warps, which take their rows of it; the broken twin gives each warp its own
// buffer: a in f16 1024 ramp
// buffer: b in f16 256 ramp
// buffer: y out f32 1024
// launch: k grid=1 block=128 args=a,b,y
// expect: pass
// broken: reject sync.warpgroup
#include "warpgroups.cuh"
extern "C" __global__ void k(const unsigned short *a, const unsigned short *b, float *y) {
   __shared__ __align__(128) unsigned short sa[1024], sb[256];
   float d[8] = {0, 0, 0, 0, 0, 0, 0, 0};
   fill(sa, a, 64);
   fill(sb, b, 16);
   proxy_fence();
   __syncthreads();
#ifndef BROKEN
   const int first = 0;
#else
   const int first = threadIdx.x / 32 * 128;
#endif
   hold(d);
   group_fence();
   multiply<1>(d, plain(sa + first, 64), plain(sb, 16));
   group_commit();
   group_wait<0>();
   hold(d);
   leave(y, d);
}
