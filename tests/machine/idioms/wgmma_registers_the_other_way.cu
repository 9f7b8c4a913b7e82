// why: a warpgroup gives registers back and asks for more of them later; the broken one asks by inc for fewer than it has
// buffer: x in f32 128 ramp
// buffer: y out f32 128
// launch: k grid=1 block=128 args=x,y
// expect: pass
// broken: reject sync.setmaxnreg
#include "warpgroups.cuh"
#ifndef BROKEN
#define THEN 64
#else
#define THEN 32
#endif
#define TEXT(x) #x
#define SET(how, n) asm volatile("setmaxnreg." #how ".sync.aligned.u32 " TEXT(n) ";")
extern "C" __global__ void __launch_bounds__(128, 1) k(const float *x, float *y) {
   SET(dec, 40);
   SET(inc, THEN);
   y[threadIdx.x] = x[threadIdx.x];
}
