// why: an accumulator in shared memory has to be cleared a barrier before other threads add to it
// buffer: x in f32 256 noise
// buffer: y out f32 1
// launch: sum grid=1 block=256 args=x,y
// expect: pass
// broken: reject race.shared
extern "C" __global__ void sum(const float *x, float *y) {
   __shared__ float total;
   if (threadIdx.x == 0)
      total = 0;
#ifndef BROKEN
   __syncthreads();
#endif
   atomicAdd(&total, x[threadIdx.x]);
   __syncthreads();
   if (threadIdx.x == 0)
      *y = total;
}
