// why: an accumulator in shared memory has to be cleared before it is added to
// buffer: x in f32 256 noise
// buffer: y out f32 1
// launch: sum grid=1 block=256 args=x,y
// expect: pass
// broken: reject memory.uninitialised
extern "C" __global__ void sum(const float *x, float *y) {
   __shared__ float total;
#ifndef BROKEN
   if (threadIdx.x == 0)
      total = 0;
   __syncthreads();
#endif
   atomicAdd(&total, x[threadIdx.x]);
   __syncthreads();
   if (threadIdx.x == 0)
      *y = total;
}
