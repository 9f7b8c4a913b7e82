// why: two of four warps meet at a barrier of 64 threads; it orders those two, and not what the others wrote
// buffer: x in f32 128 noise
// buffer: y out f32 128
// launch: part grid=1 block=128 args=x,y
// expect: pass
// broken: reject race.shared
extern "C" __global__ void part(const float *x, float *y) {
   __shared__ float s[128];
   int t = threadIdx.x;
   s[t] = x[t];
   if (t >= 64) {
      y[t] = s[t];
      return;
   }
   asm volatile("bar.sync 1, 64;" ::: "memory");
#ifdef BROKEN
   y[t] = s[t + 64];
#else
   y[t] = s[63 - t];
#endif
}
