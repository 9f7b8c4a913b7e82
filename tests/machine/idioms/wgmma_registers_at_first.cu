// why: a warpgroup gives registers back, and two others take them; the broken one asks by inc for fewer than a warp begins with (an H200 ends the launch)
// buffer: y out f32 384
// launch: k grid=1 block=384 args=y
// expect: pass
// broken: reject sync.setmaxnreg
#ifndef BROKEN
#define FIRST "dec"
#else
#define FIRST "inc"
#endif
extern "C" __global__ void __launch_bounds__(384, 1) k(float *y) {
   if (threadIdx.x < 128)
      asm volatile("setmaxnreg." FIRST ".sync.aligned.u32 24;");
   else
      asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
   y[threadIdx.x] = threadIdx.x;
}
