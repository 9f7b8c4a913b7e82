/* rkb-kernel: 1
task: softmax
direction: forward
scratch:
  taken: {dtype: int32, shape: "1", init: zero}
launches:
  - kernel: persistent
    grid: min(N, 64)
    block: 64
    args: x, y, taken, N, D
*/
/* Blocks take rows from a counter until none is left. */
__global__ void persistent(const float *x, float *y, int *taken, int N, int D) {
   __shared__ int mine;
   __shared__ float shared[2];
   for (;;) {
      if (threadIdx.x == 0)
         mine = atomicAdd(taken, 1);
      __syncthreads();
      const long long row = mine;
      if (row >= N)
         return;
      float m = -__int_as_float(0x7f800000), s = 0;
      for (int i = threadIdx.x; i < D; i += 64)
         m = fmaxf(m, x[row * D + i]);
      for (int d = 16; d > 0; d >>= 1)
         m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
      if (threadIdx.x % 32 == 0)
         shared[threadIdx.x / 32] = m;
      __syncthreads();
      m = fmaxf(shared[0], shared[1]);
      __syncthreads();
      for (int i = threadIdx.x; i < D; i += 64)
         s += expf(x[row * D + i] - m);
      for (int d = 16; d > 0; d >>= 1)
         s += __shfl_xor_sync(0xffffffffu, s, d);
      if (threadIdx.x % 32 == 0)
         shared[threadIdx.x / 32] = s;
      __syncthreads();
      for (int i = threadIdx.x; i < D; i += 64)
         y[row * D + i] = expf(x[row * D + i] - m) / (shared[0] + shared[1]);
      __syncthreads();
   }
}
