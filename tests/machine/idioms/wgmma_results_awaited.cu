// why: results are read once their group is done; the broken one adds to them before it waits
// buffer: a in f16 1024 ramp
// buffer: b in f16 256 ramp
// buffer: y out f32 1024
// launch: k grid=1 block=128 args=a,b,y
// expect: pass
// broken: reject race.register
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
   hold(d);
   for (int n = 0; n < 8; n++)
      d[n] += 1;
   group_wait<0>();
   leave(y, d);
}
