// why: warps give registers back, and two warpgroups take them; in the broken one they wait first, at a named barrier, for those who wait for these
// why: registers.  Nothing here is asynchronous
// buffer: y out f32 384
// launch: k grid=1 block=384 args=y
// expect: pass
// broken: reject sync.setmaxnreg
extern "C" __global__ void __launch_bounds__(384, 1) k(float *y) {
   const int t = threadIdx.x;
   if (t < 128) {
#ifdef BROKEN
      asm volatile("bar.sync 1, 384;" ::: "memory");
#endif
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
#ifndef BROKEN
      asm volatile("bar.sync 1, 384;" ::: "memory");
#endif
   } else {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
      asm volatile("bar.sync 1, 384;" ::: "memory");
   }
   y[t] = t;
}
