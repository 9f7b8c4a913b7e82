// why: functions that were not inlined pass arguments through .param; a local array is its thread's own
// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: apply grid=1 block=64 args=x,y,3
// expect: pass
// broken: reject memory.uninitialised
__device__ __noinline__ float polynomial(const float *c, float x, int n) {
   float r = 0;
   for (int i = 0; i < n; i++)
      r = r * x + c[i];
   return r;
}
extern "C" __global__ void apply(const float *x, float *y, int n) {
   float c[4] = {1, 2, 3, 4};
   c[n] += x[threadIdx.x];
#ifdef BROKEN
   n += 5;
#endif
   y[threadIdx.x] = polynomial(c, x[threadIdx.x], n + 1);
}
