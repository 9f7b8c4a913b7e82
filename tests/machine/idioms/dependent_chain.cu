// why: three launches in a row, each of which may begin early: the third may begin while the first still runs, until it has waited; in the broken
// why: one the second does not wait, so that nothing tells the third that the first has ended
// buffer: x in f32 256 ramp
// buffer: h scratch f32 256
// buffer: g scratch f32 256
// buffer: y out f32 256
// launch: first grid=2 block=128 args=x,h
// launch: second grid=2 block=128 dependent args=x,g
// launch: third grid=2 block=128 dependent args=h,g,y
// expect: pass
// broken: reject sync.dependent
#include "dependent_launches.cuh"
extern "C" __global__ void first(const float *x, float *h) {
   grid_release();
   const int i = blockIdx.x * 128 + threadIdx.x;
   h[255 - i] = x[i];
}
extern "C" __global__ void second(const float *x, float *g) {
   grid_release();
   const int i = blockIdx.x * 128 + threadIdx.x;
   g[i] = 3 * x[i];
#ifndef BROKEN
   if (threadIdx.x == 0)
      grid_wait();
#endif
}
extern "C" __global__ void third(const float *h, const float *g, float *y) {
   const int i = blockIdx.x * 128 + threadIdx.x;
   grid_wait();
   y[i] = h[i] + g[i];
}
