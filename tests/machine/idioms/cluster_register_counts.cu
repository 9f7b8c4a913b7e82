// why: each block of a cluster has registers of its own: what a warpgroup of one gives back, another of the same block may have; the
// why: broken one asks for more than a block has
// buffer: x in f32 512 ramp
// buffer: y out f32 512
// launch: k grid=2 cluster=2 block=384 args=x,y
// expect: pass
// broken: reject sync.setmaxnreg
#include "clusters.cuh"
#ifndef BROKEN
#define MORE 232
#else
#define MORE 240
#endif
#define TEXT(x) #x
#define SET(how, n) asm volatile("setmaxnreg." #how ".sync.aligned.u32 " TEXT(n) ";")
extern "C" __global__ void __launch_bounds__(384, 1) k(const float *x, float *y) {
   cluster_sync();
   if (threadIdx.x < 128) {
      SET(dec, 40);
      return;
   }
   SET(inc, MORE);
   const unsigned n = cluster_rank() * 256 + threadIdx.x - 128;
   y[n] = x[n];
}
