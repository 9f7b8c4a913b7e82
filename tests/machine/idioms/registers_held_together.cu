// why: of two warpgroups that take registers, each gives them back before the other has taken any; in the broken one both hold theirs at one time, and
// why: the block has not so many
// buffer: y out f32 384
// launch: k grid=1 block=384 args=y
// expect: pass
// broken: reject sync.setmaxnreg
extern "C" __global__ void __launch_bounds__(384, 1) k(float *y) {
   const int t = threadIdx.x;
   if (t < 128) {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
   } else {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
#ifdef BROKEN
      asm volatile("bar.sync 1, 256;" ::: "memory");
#endif
      asm volatile("setmaxnreg.dec.sync.aligned.u32 168;");
#ifndef BROKEN
      asm volatile("bar.sync 1, 256;" ::: "memory");
#endif
   }
   y[t] = t;
}
