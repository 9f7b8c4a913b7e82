// why: a warpgroup gives registers to a second one, and takes more once a third one has given its own; in the broken one the third one waits for that
// buffer: y out f32 384
// launch: k grid=1 block=384 args=y
// expect: pass
// broken: reject sync.setmaxnreg
#define WAIT(n) asm volatile("bar.sync " #n ", 384;" ::: "memory")
extern "C" __global__ void __launch_bounds__(384, 1) k(float *y) {
   const int t = threadIdx.x;
   if (t < 128) {
      WAIT(1);
#ifdef BROKEN
      WAIT(2);
#endif
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
#ifndef BROKEN
      WAIT(2);
#endif
   } else if (t < 256) {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
      WAIT(1);
      WAIT(2);
   } else {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
      WAIT(1);
      asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
      WAIT(2);
   }
   y[t] = t;
}
