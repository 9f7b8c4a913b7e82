// why: a warpgroup gives registers back, and two others take them; in the broken one it waits first until the others have them, which they wait for
// why: as well
// buffer: y out f32 384
// launch: k grid=1 block=384 args=y
// expect: pass
// broken: reject sync.setmaxnreg
#include "mbarriers.cuh"
extern "C" __global__ void __launch_bounds__(384, 1) k(float *y) {
   __shared__ unsigned long long taken;
   const int t = threadIdx.x;
   if (t == 0)
      bar_init(&taken, 256);
   __syncthreads();
   if (t < 128) {
#ifdef BROKEN
      bar_wait(&taken, 0);
#endif
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
#ifndef BROKEN
      bar_wait(&taken, 0);
#endif
   } else {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
      bar_arrive(&taken);
   }
   y[t] = t;
}
