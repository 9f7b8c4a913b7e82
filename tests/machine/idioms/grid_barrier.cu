// why: a barrier across the grid: blocks run side by side, and what a block wrote before its fence is there after the others have
// why: seen it arrive; without the fence nothing orders it
// buffer: x scratch f32 4
// buffer: y out f32 4
// launch: exchange grid=4 block=32 args=x,y
// expect: pass
// broken: reject race.global
__device__ unsigned arrived = 0;
extern "C" __global__ void exchange(float *x, float *y) {
   if (threadIdx.x == 0) {
      x[blockIdx.x] = blockIdx.x;
#ifndef BROKEN
      __threadfence();
#endif
      atomicAdd(&arrived, 1);
      while (*(volatile unsigned *)&arrived < gridDim.x)
         ;
      __threadfence();
      y[blockIdx.x] = x[3 - blockIdx.x];
   }
}
