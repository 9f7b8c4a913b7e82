/* rkb-kernel: 1
task: adamw_step
direction: forward
launches:
  - kernel: strided
    grid: min(ceildiv(N, 64), 264)
    block: 64
    args: param, grad, exp_avg, exp_avg_sq, lr, beta1, beta2, eps, weight_decay, bias_correction1, bias_correction2, N
*/
/* A fixed grid strides over the numbers. */
__global__ void strided(float *param, const float *grad, float *exp_avg, float *exp_avg_sq, float lr, float beta1, float beta2, float eps, float weight_decay,
                    float bias_correction1, float bias_correction2, long long N) {
   const float step = lr / bias_correction1, root = rsqrtf(bias_correction2);
   for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < N; i += (long long)gridDim.x * blockDim.x) {
      const float g = grad[i], m = exp_avg[i] = fmaf(beta1, exp_avg[i], (1 - beta1) * g),
                  v = exp_avg_sq[i] = fmaf(beta2, exp_avg_sq[i], (1 - beta2) * g * g);
      param[i] = fmaf(-lr * weight_decay, param[i], param[i]) - step * m / fmaf(sqrtf(v), root, eps);
   }
}
