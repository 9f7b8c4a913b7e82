/* rkb-kernel: 1
task: bf16_selective_scan
direction: backward
scratch:
  states: {dtype: float32, shape: "B, D, N, T"}
  adjoints: {dtype: float32, shape: "B, D, N, T"}
  rate_parts: {dtype: float32, shape: "B, D, N"}
  skip_parts: {dtype: float32, shape: "B, D"}
  bias_parts: {dtype: float32, shape: "B, D"}
launches:
  - kernel: scan_and_back
    grid: ceildiv(D, 32), B
    block: 32
    args: grad_y, u, delta, a, b, c, skip, z, bias, states, adjoints, rate_parts, skip_parts, bias_parts, grad_u, grad_delta, grad_z, D, T, N
  - kernel: sum_batch
    grid: ceildiv(D, 64)
    block: 64
    args: rate_parts, skip_parts, bias_parts, grad_a, grad_skip, grad_bias, B, D, N
  - kernel: sum_channels
    grid: ceildiv(T, 64), N, B
    block: 64
    args: grad_y, u, delta, z, bias, states, adjoints, grad_b, grad_c, D, T, N
*/

/* A thread owns a channel of a sequence.  It goes over the tokens and keeps every state in memory, then goes back with the gradient of the
 * state in registers, and keeps that too.  Gradients that channels or sequences share are summed by the other launches, always in the same
 * order.  All arithmetic is fp32, and each gradient is rounded once. */

#include <cuda_bf16.h>

constexpr int most = 16;

__device__ float wide(const __nv_bfloat16 *from, long long i) {
   return __bfloat162float(from[i]);
}

__device__ float sigmoid(float x) {
   return 1.0f / (1.0f + expf(-x));
}

__device__ float softplus(float x) {
   return x > 20.0f ? x : log1pf(expf(x));
}

__global__ void __launch_bounds__(32)
   scan_and_back(const __nv_bfloat16 *grad_y, const __nv_bfloat16 *u, const __nv_bfloat16 *delta, const float *a, const __nv_bfloat16 *b,
                 const __nv_bfloat16 *c, const float *skip, const __nv_bfloat16 *z, const float *bias, float *states, float *adjoints,
                 float *rate_parts, float *skip_parts, float *bias_parts, __nv_bfloat16 *grad_u, __nv_bfloat16 *grad_delta,
                 __nv_bfloat16 *grad_z, int D, int T, int N) {
   const int channel = blockIdx.x * 32 + threadIdx.x;
   if (channel >= D)
      return;
   const long long own = (long long)blockIdx.y * D + channel, row = own * T, shared_rows = (long long)blockIdx.y * N * T;
   const float offset = bias[channel], past = skip[channel];
   float rate[most], state[most], adjoint[most], rate_sum[most];
#pragma unroll
   for (int n = 0; n < most; n++) {
      rate[n] = n < N ? a[(long long)channel * N + n] : 0.0f;
      state[n] = adjoint[n] = rate_sum[n] = 0.0f;
   }
   for (int t = 0; t < T; t++) {
      const float step = softplus(wide(delta, row + t) + offset), entering = step * wide(u, row + t);
#pragma unroll
      for (int n = 0; n < most; n++)
         if (n < N) {
            state[n] = expf(-(step * rate[n])) * state[n] + entering * wide(b, shared_rows + (long long)n * T + t);
            states[(own * N + n) * T + t] = state[n];
         }
   }
   float skip_sum = 0.0f, bias_sum = 0.0f;
   for (int t = T - 1; t >= 0; t--) {
      const float raw = wide(delta, row + t) + offset, step = softplus(raw), x = wide(u, row + t), gate = wide(z, row + t);
      const float open = sigmoid(gate), given = wide(grad_y, row + t), grad_whole = given * (gate * open);
      float whole = x * past, grad_entering = 0.0f, grad_step = 0.0f;
#pragma unroll
      for (int n = 0; n < most; n++)
         if (n < N) {
            const long long place = (own * N + n) * T + t, shared_place = shared_rows + (long long)n * T + t;
            const float read = wide(c, shared_place), decay = expf(-(step * rate[n]));
            const float before = t > 0 ? states[place - 1] : 0.0f;
            whole += states[place] * read;
            adjoint[n] += grad_whole * read;
            adjoints[place] = adjoint[n];
            grad_entering += adjoint[n] * wide(b, shared_place);
            const float grad_exponent = adjoint[n] * before * decay;
            grad_step -= grad_exponent * rate[n];
            rate_sum[n] -= grad_exponent * step;
            adjoint[n] *= decay;
         }
      grad_step += grad_entering * x;
      const float grad_raw = raw > 20.0f ? grad_step : grad_step * sigmoid(raw);
      grad_delta[row + t] = __float2bfloat16(grad_raw);
      grad_u[row + t] = __float2bfloat16(grad_whole * past + grad_entering * step);
      grad_z[row + t] = __float2bfloat16(given * whole * (open * (1.0f + gate * (1.0f - open))));
      skip_sum += grad_whole * x;
      bias_sum += grad_raw;
   }
#pragma unroll
   for (int n = 0; n < most; n++)
      if (n < N)
         rate_parts[own * N + n] = rate_sum[n];
   skip_parts[own] = skip_sum;
   bias_parts[own] = bias_sum;
}

__global__ void __launch_bounds__(64)
   sum_batch(const float *rate_parts, const float *skip_parts, const float *bias_parts, float *grad_a, float *grad_skip, float *grad_bias,
             int B, int D, int N) {
   const int channel = blockIdx.x * 64 + threadIdx.x;
   if (channel >= D)
      return;
   float skip_sum = 0.0f, bias_sum = 0.0f;
   for (int i = 0; i < B; i++) {
      skip_sum += skip_parts[(long long)i * D + channel];
      bias_sum += bias_parts[(long long)i * D + channel];
   }
   grad_skip[channel] = skip_sum;
   grad_bias[channel] = bias_sum;
   for (int n = 0; n < N; n++) {
      float sum = 0.0f;
      for (int i = 0; i < B; i++)
         sum += rate_parts[((long long)i * D + channel) * N + n];
      grad_a[(long long)channel * N + n] = sum;
   }
}

__global__ void __launch_bounds__(64)
   sum_channels(const __nv_bfloat16 *grad_y, const __nv_bfloat16 *u, const __nv_bfloat16 *delta, const __nv_bfloat16 *z, const float *bias,
                const float *states, const float *adjoints, __nv_bfloat16 *grad_b, __nv_bfloat16 *grad_c, int D, int T, int N) {
   const int t = blockIdx.x * 64 + threadIdx.x;
   if (t >= T)
      return;
   float entered = 0.0f, read = 0.0f;
   for (int channel = 0; channel < D; channel++) {
      const long long own = (long long)blockIdx.z * D + channel, row = own * T + t, place = (own * N + blockIdx.y) * T + t;
      const float gate = wide(z, row);
      entered += adjoints[place] * (softplus(wide(delta, row) + bias[channel]) * wide(u, row));
      read += states[place] * (wide(grad_y, row) * (gate * sigmoid(gate)));
   }
   const long long place = ((long long)blockIdx.z * N + blockIdx.y) * T + t;
   grad_b[place] = __float2bfloat16(entered);
   grad_c[place] = __float2bfloat16(read);
}
