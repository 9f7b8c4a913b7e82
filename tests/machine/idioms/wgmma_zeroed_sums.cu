// why: sums are set to zero before the fence; the compiler moves such constants behind it, where ptxas takes care of them. The broken one
// why: reads its sums after the fence, which no compiler may move in front of it
// buffer: a in f16 1024 ramp
// buffer: b in f16 256 ramp
// buffer: x in f32 8 noise
// buffer: y out f32 1024
// launch: k grid=1 block=128 args=a,b,x,y
// expect: pass
// broken: reject sync.wgmma_fence
#include "warpgroups.cuh"
extern "C" __global__ void k(const unsigned short *a, const unsigned short *b, const volatile float *x, float *y) {
   __shared__ __align__(128) unsigned short sa[1024], sb[256];
   fill(sa, a, 64);
   fill(sb, b, 16);
   proxy_fence();
   __syncthreads();
   float d[8] = {0, 0, 0, 0, 0, 0, 0, 0};
   group_fence();
#ifdef BROKEN
   for (int n = 0; n < 8; n++)
      d[n] = x[n];
#endif
   multiply<1>(d, plain(sa, 64), plain(sb, 16));
   group_commit();
   group_wait<0>();
   hold(d);
   leave(y, d);
}
