/* rkb-kernel: 1
task: adamw_step
direction: forward
launches:
  - kernel: adamw
    grid: ceildiv(N, 256)
    block: 256
    args: param, grad, exp_avg, exp_avg_sq, lr, beta1, beta2, eps, weight_decay, bias_correction1, bias_correction2, N
*/

/* A thread owns an element. */
__global__ void adamw(float *param, const float *grad, float *exp_avg, float *exp_avg_sq, float lr, float beta1, float beta2, float eps, float weight_decay,
                      float bias_correction1, float bias_correction2, int N) {
   const int i = blockIdx.x * 256 + threadIdx.x;
   if (i >= N)
      return;
   const float first = beta1 * exp_avg[i] + (1.0f - beta1) * grad[i], second = beta2 * exp_avg_sq[i] + (1.0f - beta2) * grad[i] * grad[i];
   const float step = lr / bias_correction1 * first / (sqrtf(second) / sqrtf(bias_correction2) + eps);
   param[i] = param[i] * (1.0f - lr * weight_decay) - step;
   exp_avg[i] = first;
   exp_avg_sq[i] = second;
}
