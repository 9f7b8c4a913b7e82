/* rkb-kernel: 1
task: adamw_step
direction: forward
launches:
  - kernel: step
    grid: ceildiv(N, 256)
    block: 256
    args: param, grad, exp_avg, exp_avg_sq, lr, beta1, beta2, eps, weight_decay, bias_correction1, bias_correction2, N
*/
/* Moments as steps towards the new value. */
__global__ void step(float *param, const float *grad, float *exp_avg, float *exp_avg_sq, float lr, float beta1, float beta2, float eps, float weight_decay,
                    float bias_correction1, float bias_correction2, long long N) {
   const long long i = blockIdx.x * 256ll + threadIdx.x;
   if (i >= N)
      return;
   const float g = grad[i];
   float p = param[i] * (1 - lr * weight_decay), m = exp_avg[i], v = exp_avg_sq[i];
   m += (g - m) * (1 - beta1);
   v = beta2 * v + (1 - beta2) * g * g;
   exp_avg[i] = m;
   exp_avg_sq[i] = v;
   param[i] = p - lr / bias_correction1 * m / (sqrtf(v) / sqrtf(bias_correction2) + eps);
}
