/* rkb-kernel: 1
task: softmax
direction: backward
scratch:
  share: {dtype: float32, shape: "N, D"}
launches:
  - kernel: shares
    grid: N
    block: 64
    args: x, share, D
  - kernel: gradient
    grid: ceildiv(N, 2)
    block: 64
    args: grad_y, share, grad_x, N, D
*/
/* The forward pass again into scratch, then a plain gradient. */
__global__ void shares(const float *x, float *share, int D) {
   __shared__ float part[64];
   const long long at = (long long)blockIdx.x * D;
   const int t = threadIdx.x;
   float m = -3e38f, s = 0;
   for (int i = t; i < D; i += 64)
      m = fmaxf(m, x[at + i]);
   part[t] = m;
   __syncthreads();
   for (int k = 0; k < 64; k++)
      m = fmaxf(m, part[k]);
   __syncthreads();
   for (int i = t; i < D; i += 64)
      s += share[at + i] = expf(x[at + i] - m);
   part[t] = s;
   __syncthreads();
   s = 0;
   for (int k = 0; k < 64; k++)
      s += part[k];
   for (int i = t; i < D; i += 64)
      share[at + i] *= 1 / s;
}

__global__ void gradient(const float *grad_y, const float *share, float *grad_x, int N, int D) {
   const int row = blockIdx.x * 2 + threadIdx.x / 32;
   if (row >= N)
      return;
   const long long at = (long long)row * D;
   float p = 0;
   for (int i = threadIdx.x % 32; i < D; i += 32)
      p += grad_y[at + i] * share[at + i];
   for (int d = 16; d; d >>= 1)
      p += __shfl_xor_sync(0xffffffffu, p, d);
   for (int i = threadIdx.x % 32; i < D; i += 32)
      grad_x[at + i] = share[at + i] * (grad_y[at + i] - p);
}
