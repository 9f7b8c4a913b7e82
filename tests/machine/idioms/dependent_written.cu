// why: what the first launch reads, the second one overwrites once it has waited; the broken one may overwrite it before it is read
// buffer: x in f32 256 ramp
// buffer: h scratch f32 256 zero
// buffer: y out f32 256
// launch: first grid=2 block=128 args=h,y
// launch: second grid=2 block=128 dependent args=x,h
// expect: pass
// broken: reject race.launch
#include "dependent_launches.cuh"
extern "C" __global__ void first(const float *h, float *y) {
   const int i = blockIdx.x * 128 + threadIdx.x;
   y[i] = h[i];
}
extern "C" __global__ void second(const float *x, float *h) {
   const int i = blockIdx.x * 128 + threadIdx.x;
#ifndef BROKEN
   grid_wait();
#endif
   h[i] = x[i];
#ifdef BROKEN
   grid_wait();
#endif
}
