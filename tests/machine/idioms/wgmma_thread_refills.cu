// why: one thread of a warpgroup copies again into the buffer when it has seen its product's end, which tells that all four warps have come to
// why: the product; the broken one does so before that
// buffer: a in f16 4096 ramp
// buffer: b in f16 256 ramp
// buffer: y out f32 1024
// launch: product grid=1 block=128 args=a,b,y
// expect: pass
// broken: reject race.async
#include "warpgroups.cuh"
extern "C" __global__ void product(const unsigned short *a, const unsigned short *b, float *y) {
   __shared__ __align__(128) unsigned short sa[1024], sb[256];
   __shared__ unsigned long long full;
   float d[8] = {0, 0, 0, 0, 0, 0, 0, 0};
   fill(sb, b, 16);
   proxy_fence();
   if (threadIdx.x == 32) {
      bar_init(&full, 1);
      bar_fence();
   }
   __syncthreads();
   for (int step = 0; step < 4; step++) {
      if (threadIdx.x == 32) {
         bar_expect(&full, 2048);
         bulk_load(sa, a + step * 1024, 2048, &full);
      }
      bar_wait(&full, step & 1);
      hold(d);
      group_fence();
      multiply<1>(d, plain(sa, 64), plain(sb, 16));
      group_commit();
#ifndef BROKEN
      group_wait<0>();
#else
      group_wait<1>();
#endif
      hold(d);
   }
   group_wait<0>();
   hold(d);
   leave(y, d);
}
