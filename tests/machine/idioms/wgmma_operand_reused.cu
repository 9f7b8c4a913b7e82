// why: a buffer is filled again once the product that reads it is done, in every warp; the broken one does not wait first
// buffer: a in f16 1024 ramp
// buffer: b in f16 256 ramp
// buffer: y out f32 1024
// launch: k grid=1 block=128 args=a,b,y
// expect: pass
// broken: reject race.async
#include "warpgroups.cuh"
extern "C" __global__ void k(const unsigned short *a, const unsigned short *b, float *y) {
   __shared__ __align__(128) unsigned short sa[1024], sb[256];
   float d[8] = {0, 0, 0, 0, 0, 0, 0, 0};
   fill(sa, a, 64);
   fill(sb, b, 16);
   proxy_fence();
   __syncthreads();
   hold(d);
   group_fence();
   multiply<1>(d, plain(sa, 64), plain(sb, 16));
   group_commit();
#ifndef BROKEN
   group_wait<0>();
#endif
   __syncthreads();
   fill(sb, b, 16);
   proxy_fence();
   group_wait<0>();
   __syncthreads();
   hold(d);
   group_fence();
   multiply<1>(d, plain(sa, 64), plain(sb, 16));
   group_commit();
   group_wait<0>();
   hold(d);
   leave(y, d);
}
