// why: one lane adds up for a long time, and the others wait for it at a shuffle that names it
// buffer: x in f32 64 noise
// buffer: y out f32 32
// launch: sums grid=1 block=32 args=x,y
// expect: pass
// broken: reject sync.warp
extern "C" __global__ void sums(const float *x, float *y) {
   const int lane = threadIdx.x;
   float sum = 0.0f;
   if (lane == 0)
      for (int n = 0; n < 20000; n++) {
         sum = 0.5f * sum + x[n * 7 % 64];
#ifdef BROKEN
         sum += __shfl_sync(0xffffffffu, sum, 0);
#endif
      }
   sum = __shfl_sync(0xffffffffu, sum, 0);
   y[lane] = sum + lane;
}
