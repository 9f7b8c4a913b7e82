// why: the second launch may begin before the first one ends: it prepares what needs nothing of it, waits, and reads; the broken one reads
// why: before it waits, and what launch_dependents came behind is not published by it
// buffer: x in f32 512 ramp
// buffer: h scratch f32 512
// buffer: y out f32 512
// launch: first grid=4 block=128 args=x,h
// launch: second grid=4 block=128 dependent args=x,h,y
// expect: pass
// broken: reject race.launch
#include "dependent_launches.cuh"
extern "C" __global__ void first(const float *x, float *h) {
   const int i = blockIdx.x * 128 + threadIdx.x;
   h[511 - i] = 2 * x[i];
   grid_release();
}
extern "C" __global__ void second(const float *x, const float *h, float *y) {
   const int i = blockIdx.x * 128 + threadIdx.x;
   const float own = x[i];
#ifdef BROKEN
   const float other = ((const volatile float *)h)[i];
   grid_wait();
#else
   grid_wait();
   const float other = h[i];
#endif
   y[i] = own + other;
}
