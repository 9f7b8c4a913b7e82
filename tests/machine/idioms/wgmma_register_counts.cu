// why: a producer gives registers back that the warpgroup which multiplies asks for; the broken one asks for more than the
// why: block has
// buffer: x in f32 256 ramp
// buffer: y out f32 256
// launch: k grid=1 block=384 args=x,y
// expect: pass
// broken: reject sync.setmaxnreg
#include "warpgroups.cuh"
#ifndef BROKEN
#define MORE 232
#else
#define MORE 240
#endif
#define TEXT(x) #x
#define SET(how, n) asm volatile("setmaxnreg." #how ".sync.aligned.u32 " TEXT(n) ";")
extern "C" __global__ void __launch_bounds__(384, 1) k(const float *x, float *y) {
   if (threadIdx.x < 128) {
      SET(dec, 40);
      return;
   }
   SET(inc, MORE);
   y[threadIdx.x - 128] = x[threadIdx.x - 128];
}
