/* rkb-kernel: 1
task: bf16_selective_scan
direction: forward
launches:
  - kernel: scan
    grid: ceildiv(D, 32), B
    block: 32
    args: u, delta, a, b, c, skip, z, bias, y, D, T, N
*/

/* A thread keeps the whole state of a channel in registers, up to 16 numbers, and goes over the tokens.  It computes in fp32 and rounds
 * each token's result once. */

#include <cuda_bf16.h>

constexpr int most = 16;

__device__ float wide(const __nv_bfloat16 *from, long long i) {
   return __bfloat162float(from[i]);
}

__global__ void __launch_bounds__(32)
   scan(const __nv_bfloat16 *u, const __nv_bfloat16 *delta, const float *a, const __nv_bfloat16 *b, const __nv_bfloat16 *c,
        const float *skip, const __nv_bfloat16 *z, const float *bias, __nv_bfloat16 *y, int D, int T, int N) {
   const int channel = blockIdx.x * 32 + threadIdx.x;
   if (channel >= D)
      return;
   const long long row = ((long long)blockIdx.y * D + channel) * T, shared_rows = (long long)blockIdx.y * N * T;
   const float offset = bias[channel], past = skip[channel];
   float rate[most], state[most];
#pragma unroll
   for (int n = 0; n < most; n++) {
      rate[n] = n < N ? a[(long long)channel * N + n] : 0.0f;
      state[n] = 0.0f;
   }
   for (int t = 0; t < T; t++) {
      const float raw = wide(delta, row + t) + offset, x = wide(u, row + t), gate = wide(z, row + t);
      const float step = raw > 20.0f ? raw : log1pf(expf(raw)), entering = step * x;
      float sum = 0.0f;
#pragma unroll
      for (int n = 0; n < most; n++)
         if (n < N) {
            if (!(state[n] == state[n])) /* begins anew behind NaN */
               state[n] = 0.0f;
            state[n] = expf(-(step * rate[n])) * state[n] + entering * wide(b, shared_rows + (long long)n * T + t);
            sum += state[n] * wide(c, shared_rows + (long long)n * T + t);
         }
      y[row + t] = __float2bfloat16((sum + x * past) * (gate / (1.0f + expf(-gate))));
   }
}
