/* rkb-kernel: 1
task: adamw_step
direction: forward
launches:
  - kernel: adamw
    grid: ceildiv(N, 256)
    block: 256
    args: param, grad, exp_avg, exp_avg_sq, lr, beta1, beta2, eps, weight_decay, bias_correction1, bias_correction2, N
*/

/* A thread has one element of each array. */

__global__ void adamw(float *param, const float *grad, float *exp_avg, float *exp_avg_sq, float lr, float beta1, float beta2, float eps,
                      float weight_decay, float bias_correction1, float bias_correction2, long long N) {
   const long long i = threadIdx.x + (long long)blockDim.x * blockIdx.x;
   const float keep = 1.0f - lr * weight_decay;
   if (i < N) {
      const float g = grad[i];
      exp_avg[i] = exp_avg[i] * beta1 + g * (1.0f - beta1);
      exp_avg_sq[i] = exp_avg_sq[i] * beta2 + g * g * (1.0f - beta2);
      const float denominator = sqrtf(exp_avg_sq[i] / bias_correction2) + eps;
      param[i] = param[i] * keep - exp_avg[i] / bias_correction1 / denominator * lr;
   }
}
