// why: three of four blocks fit the target at once: a barrier across the grid does not end there
// buffer: y out f32 4
// launch: meet grid=4 block=32 args=y
// resident: 3
// expect: reject sync.deadlock
__device__ unsigned arrived = 0;
extern "C" __global__ void meet(float *y) {
   if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(&arrived, 1);
      while (*(volatile unsigned *)&arrived < gridDim.x)
         ;
      y[blockIdx.x] = 1;
   }
}
