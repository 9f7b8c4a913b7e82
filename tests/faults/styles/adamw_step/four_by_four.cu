/* rkb-kernel: 1
task: adamw_step
direction: forward
launches:
  - kernel: quads
    grid: ceildiv(N, 512)
    block: 128
    args: param, grad, exp_avg, exp_avg_sq, lr, beta1, beta2, eps, weight_decay, bias_correction1, bias_correction2, N
*/
/* Four numbers a thread, a block's width apart. */
__global__ void quads(float *param, const float *grad, float *exp_avg, float *exp_avg_sq, float lr, float beta1, float beta2, float eps, float weight_decay,
                    float bias_correction1, float bias_correction2, long long N) {
   const long long first = blockIdx.x * 512ll + threadIdx.x;
   float g[4], p[4], m[4], v[4];
#pragma unroll
   for (int k = 0; k < 4; k++)
      if (first + k * 128 < N) {
         const long long i = first + k * 128;
         g[k] = grad[i], p[k] = param[i], m[k] = exp_avg[i], v[k] = exp_avg_sq[i];
      }
#pragma unroll
   for (int k = 0; k < 4; k++)
      if (first + k * 128 < N) {
         const long long i = first + k * 128;
         p[k] -= lr * weight_decay * p[k];
         m[k] = beta1 * m[k] + (1.0f - beta1) * g[k];
         v[k] = beta2 * v[k] + (1.0f - beta2) * g[k] * g[k];
         param[i] = p[k] - lr * (m[k] / bias_correction1) / (sqrtf(v[k] / bias_correction2) + eps);
         exp_avg[i] = m[k];
         exp_avg_sq[i] = v[k];
      }
}
