// why: two groups on their way into registers of their own, the older one is used while the newer is made; the broken twin
// why: waits for neither
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
   float e[8] = {0, 0, 0, 0, 0, 0, 0, 0};
   hold(d);
   hold(e);
   group_fence();
   multiply<1>(d, plain(sa, 64), plain(sb, 16));
   group_commit();
   multiply<1>(e, plain(sa, 64), plain(sb, 16));
   group_commit();
#ifndef BROKEN
   group_wait<1>();
#else
   group_wait<2>();
#endif
   hold(d);
   leave(y, d);
   group_wait<0>();
   hold(e);
   for (int n = 0; n < 8; n++)
      e[n] += 2;
   leave(y, e);
}
