// why: the barrier of a block is known by its number, so whole warps may wait for each other at different __syncthreads(); lanes of one warp may not
// buffer: x in f32 96 noise
// buffer: y out f32 96
// launch: roles grid=1 block=96 args=x,y
// expect: pass
// broken: reject sync.barrier
#ifndef BROKEN
#define ROLE (threadIdx.x / 32)
#else
#define ROLE ((threadIdx.x + 16) / 32)
#endif
extern "C" __global__ void roles(const float *x, float *y) {
   __shared__ float loaded[96], sums[96];
   const int t = threadIdx.x;
   const float own = x[t];
   if (ROLE == 0) {
      loaded[t] = own;
      __syncthreads();
      sums[t] = own + loaded[t + 64];
      __syncthreads();
      y[t] = sums[t + 32] * 2;
   } else if (ROLE == 1) {
      loaded[t] = 3 * own;
      __syncthreads();
      sums[t] = own - loaded[t - 32];
      __syncthreads();
      y[t] = sums[t - 32] + sums[t + 32];
   } else {
      loaded[t] = -own;
      __syncthreads();
      sums[t] = own * loaded[t - 32];
      __syncthreads();
      y[t] = loaded[t - 64] - sums[t - 64];
   }
}
