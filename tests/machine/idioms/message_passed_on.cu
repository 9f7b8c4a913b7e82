// why: block 0 tells block 1, block 1 tells block 2, which reads what block 0 wrote: order goes along a chain of releases, and
// why: a link without its fence breaks it
// buffer: x in f32 32 noise
// buffer: data scratch f32 32
// buffer: y out f32 32
// launch: relay grid=3 block=32 args=x,data,y
// runs: 2
// expect: pass
// broken: reject race.global
__device__ unsigned first = 0, second = 0;
extern "C" __global__ void relay(const float *x, float *data, float *y) {
   const int t = threadIdx.x;
   if (blockIdx.x == 0) {
      data[t] = x[t];
      __syncthreads();
      if (t == 0) {
         __threadfence();
         atomicExch(&first, 1);
      }
   } else if (blockIdx.x == 1) {
      if (t == 0) {
         while (atomicAdd(&first, 0) == 0)
            ;
#ifndef BROKEN
         __threadfence();
#endif
         atomicExch(&second, 1);
      }
   } else {
      if (t == 0)
         while (atomicAdd(&second, 0) == 0)
            ;
      __threadfence();
      __syncthreads();
      y[t] = data[t];
      __syncthreads();
      if (t == 0)
         first = second = 0;
   }
}
