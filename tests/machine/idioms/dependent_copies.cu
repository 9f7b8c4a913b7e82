// why: a thread waits for the launch in front before it starts a bulk copy of what that launch wrote; whoever waits for the copy knows it
// why: too, and may write; the broken one starts the copy first
// buffer: x in f32 256 ramp
// buffer: h scratch f32 256
// buffer: y out f32 256
// launch: first grid=2 block=128 args=x,h
// launch: second grid=1 block=64 dependent args=h,y
// expect: pass
// broken: reject race.launch
#include "dependent_launches.cuh"
#include "mbarriers.cuh"
extern "C" __global__ void first(const float *x, float *h) {
   const int i = blockIdx.x * 128 + threadIdx.x;
   h[255 - i] = x[i];
   grid_release();
}
extern "C" __global__ void second(float *h, float *y) {
   __shared__ __align__(16) float room[256];
   __shared__ unsigned long long full;
   if (threadIdx.x == 0) {
      bar_init(&full, 1);
      bar_fence();
#ifndef BROKEN
      grid_wait();
#endif
      bar_expect(&full, sizeof room);
      bulk_load(room, h, sizeof room, &full);
#ifdef BROKEN
      grid_wait();
#endif
   }
   __syncthreads();
   bar_wait(&full, 0);
   for (int i = threadIdx.x; i < 256; i += 64) {
      y[i] = room[i];
      h[i] = 0;
   }
}
