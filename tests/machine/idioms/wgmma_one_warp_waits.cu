// why: four warps multiply what a bulk copy brings, and each waits for it; in the broken one the first warp waits for all, which reads the
// why: same operands before the others do
// buffer: a in f16 1024 ramp
// buffer: b in f16 256 ramp
// buffer: y out f32 1024
// launch: k grid=1 block=128 args=a,b,y
// expect: pass
// broken: reject race.async
#include "warpgroups.cuh"
extern "C" __global__ void k(const unsigned short *a, const unsigned short *b, float *y) {
   __shared__ __align__(128) unsigned short sa[1024], sb[256];
   __shared__ unsigned long long full;
   float d[8] = {0, 0, 0, 0, 0, 0, 0, 0};
   fill(sa, a, 64);
   proxy_fence();
   if (threadIdx.x == 0) {
      bar_init(&full, 1);
      bar_fence();
   }
   __syncthreads();
   if (threadIdx.x == 0) {
      bar_expect(&full, 512);
      bulk_load(sb, b, 512, &full);
   }
#ifdef BROKEN
   if (threadIdx.x < 32)
#endif
      bar_wait(&full, 0);
   hold(d);
   group_fence();
   multiply<1>(d, plain(sa, 64), plain(sb, 16));
   group_commit();
   group_wait<0>();
   hold(d);
   leave(y, d);
}
