// why: the launch bounds leave room for two blocks on a multiprocessor, so that a block has half of the registers; the broken one asks for as many as
// why: if it were alone
// buffer: x in f32 256 ramp
// buffer: y out f32 256
// launch: k grid=1 block=384 args=x,y
// expect: pass
// broken: reject sync.setmaxnreg
#include "warpgroups.cuh"
#ifndef BROKEN
#define MORE 104
#else
#define MORE 232
#endif
#define TEXT(x) #x
#define SET(how, n) asm volatile("setmaxnreg." #how ".sync.aligned.u32 " TEXT(n) ";")
extern "C" __global__ void __launch_bounds__(384, 2) k(const float *x, float *y) {
   if (threadIdx.x < 128) {
      SET(dec, 24);
      return;
   }
   SET(inc, MORE);
   y[threadIdx.x - 128] = x[threadIdx.x - 128];
}
