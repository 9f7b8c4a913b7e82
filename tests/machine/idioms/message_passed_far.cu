// why: each block waits for the one before it, and the last reads what the first wrote: order goes along a row of releases; in the broken one a block
// why: in the middle tells the next before it waits itself, and nothing orders the first block's write
// buffer: x in f32 32 noise
// buffer: data scratch f32 32
// buffer: y out f32 32
// launch: relay grid=9 block=32 args=x,data,y
// runs: 2
// expect: pass
// broken: reject race.global
__device__ unsigned told[9];
static __device__ void wait_for(int block) {
   while (atomicAdd(&told[block], 0) == 0)
      ;
   __threadfence();
}
static __device__ void tell_from(int block) {
   __threadfence();
   atomicExch(&told[block], 1);
}
extern "C" __global__ void relay(const float *x, float *data, float *y) {
   const int b = blockIdx.x, t = threadIdx.x, last = gridDim.x - 1;
   if (b == 0)
      data[t] = x[t];
   __syncthreads();
#ifdef BROKEN
   const bool early = b == 4;
#else
   const bool early = false;
#endif
   if (t == 0 && early)
      tell_from(b);
   if (t == 0 && b > 0)
      wait_for(b - 1);
   if (t == 0 && b < last && !early)
      tell_from(b);
   __syncthreads();
   if (b == last) {
      y[t] = data[t];
      if (t < last)
         told[t] = 0;
   }
}
