// why: one thread waits for the launch in front, and a barrier tells the others; the broken one has no barrier
// buffer: x in f32 256 ramp
// buffer: h scratch f32 256
// buffer: y out f32 256
// launch: first grid=2 block=128 args=x,h
// launch: second grid=2 block=128 dependent args=h,y
// expect: pass
// broken: reject race.launch
#include "dependent_launches.cuh"
extern "C" __global__ void first(const float *x, float *h) {
   grid_release();
   const int i = blockIdx.x * 128 + threadIdx.x;
   h[255 - i] = x[i];
}
extern "C" __global__ void second(const float *h, float *y) {
   const int i = blockIdx.x * 128 + threadIdx.x;
   if (threadIdx.x == 0)
      grid_wait();
#ifndef BROKEN
   __syncthreads();
#endif
   y[i] = h[i];
}
