/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: keep
    grid: N
    block: 64
    args: x, y, D
*/
/* The output holds the exps before they are divided. */
__global__ void keep(const float *x, float *y, int D) {
   __shared__ float shared[2];
   const float *in = &x[(long long)blockIdx.x * D];
   float *out = &y[(long long)blockIdx.x * D], m = -__int_as_float(0x7f800000), s = 0;
   for (int i = threadIdx.x; i < D; i += 64)
      m = fmaxf(m, in[i]);
   for (int d = 16; d > 0; d >>= 1)
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
   if (threadIdx.x % 32 == 0)
      shared[threadIdx.x / 32] = m;
   __syncthreads();
   m = fmaxf(shared[0], shared[1]);
   __syncthreads();
   for (int i = threadIdx.x; i < D; i += 64)
      s += out[i] = expf(in[i] - m);
   for (int d = 16; d > 0; d >>= 1)
      s += __shfl_xor_sync(0xffffffffu, s, d);
   if (threadIdx.x % 32 == 0)
      shared[threadIdx.x / 32] = s;
   __syncthreads();
   for (int i = threadIdx.x; i < D; i += 64)
      out[i] /= shared[0] + shared[1];
}
