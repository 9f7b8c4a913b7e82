// why: two warps arrive and one waits, 96 threads in all; a barrier of 64 is complete with the two arrivals, and the third warp waits for ever
// buffer: x in f32 64 noise
// buffer: y out f32 32
// launch: gather grid=1 block=96 args=x,y
// expect: pass
// broken: reject sync.deadlock
extern "C" __global__ void gather(const float *x, float *y) {
   __shared__ float s[64];
   int t = threadIdx.x;
#ifdef BROKEN
   const int count = 64;
#else
   const int count = 96;
#endif
   if (t < 64) {
      s[t] = x[t];
      asm volatile("bar.arrive 5, %0;" ::"r"(count) : "memory");
   } else {
      asm volatile("bar.sync 5, %0;" ::"r"(count) : "memory");
      y[t - 64] = s[t - 64] + s[t - 32];
   }
}
