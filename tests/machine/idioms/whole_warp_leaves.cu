// why: a warp without a row leaves whole, in the middle of the work; the others go on with barriers
// buffer: x in f32 128 noise
// buffer: y out f32 3
// launch: rows grid=1 block=128 args=x,y,3
// expect: pass
// broken: reject sync.barrier
extern "C" __global__ void rows(const float *x, float *y, int n) {
   __shared__ float s[128];
   const int row = threadIdx.x / 32, lane = threadIdx.x % 32;
   s[threadIdx.x] = x[threadIdx.x];
   __syncthreads();
#ifndef BROKEN
   if (row >= n)
      return;
#endif
   float sum = 0;
   for (int i = 0; i < 32; i++)
      sum += s[row * 32 + i];
#ifdef BROKEN
   if (row < n)
#endif
      __syncthreads();
   if (lane == 0 && row < n)
      y[row] = sum;
}
