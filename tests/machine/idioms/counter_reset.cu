// why: a counter in a module variable must be put back, or the second run never finds its last block
// buffer: x in f32 256 noise
// buffer: partial scratch f32 4
// buffer: y out f32 1
// launch: sum grid=4 block=64 args=x,partial,y
// runs: 2
// expect: pass
// broken: reject output.unwritten
__device__ unsigned finished = 0;
extern "C" __global__ void sum(const float *x, float *partial, float *y) {
   if (threadIdx.x == 0) {
      float total = 0;
      for (int i = 0; i < 64; i++)
         total += x[blockIdx.x * 64 + i];
      partial[blockIdx.x] = total;
      __threadfence();
      if (atomicAdd(&finished, 1) == gridDim.x - 1) {
         __threadfence();
         float all = 0;
         for (int b = 0; b < gridDim.x; b++)
            all += partial[b];
         *y = all;
#ifndef BROKEN
         finished = 0;
#endif
      }
   }
}
