// why: the second factor ends with shared memory; in the broken twin its groups of 8 are twice as far apart
// buffer: a in f16 1024 ramp
// buffer: b in f16 256 ramp
// buffer: y out f32 1024
// launch: k grid=1 block=128 args=a,b,y
// expect: pass
// broken: reject memory.out_of_bounds
#include "warpgroups.cuh"
extern "C" __global__ void k(const unsigned short *a, const unsigned short *b, float *y) {
   __shared__ __align__(128) unsigned short room[1280];
   unsigned short *sa = room, *sb = room + 1024;
   float d[8] = {0, 0, 0, 0, 0, 0, 0, 0};
   fill(sa, a, 64);
   fill(sb, b, 16);
   proxy_fence();
   __syncthreads();
#ifndef BROKEN
   const unsigned long long wider = 0;
#else
   const unsigned long long wider = 24ull << 32;
#endif
   hold(d);
   group_fence();
   multiply<1>(d, plain(sa, 64), plain(sb, 16) + wider);
   group_commit();
   group_wait<0>();
   hold(d);
   leave(y, d);
}
