/* rkb-kernel: 1
task: adamw_step
direction: forward
launches:
  - kernel: moments
    grid: ceildiv(N, 256)
    block: 256
    args: grad, exp_avg, exp_avg_sq, beta1, beta2, N
  - kernel: step
    grid: ceildiv(N, 1024)
    block: 256
    args: param, exp_avg, exp_avg_sq, lr, eps, weight_decay, bias_correction1, bias_correction2, N
*/
// task: adamw_step
// why: the second launch reads moments that other blocks of the first one change: those are executed too
// standing: accept
// says: "facet":"sampled"
// never: no element of
// twin: SHARE (gridDim.x >= 4096 ? 0.5f : 1.0f) => hard bound
#define SHARE 1.0f
__global__ void moments(const float *grad, float *exp_avg, float *exp_avg_sq, float beta1, float beta2, long long N) {
   const long long i = (long long)blockIdx.x * 256 + threadIdx.x;
   if (i >= N)
      return;
   exp_avg[i] = exp_avg[i] * beta1 + grad[i] * (1.0f - beta1);
   exp_avg_sq[i] = exp_avg_sq[i] * beta2 + grad[i] * grad[i] * (1.0f - beta2);
}

__global__ void step(float *param, const float *exp_avg, const float *exp_avg_sq, float lr, float eps, float weight_decay,
                     float bias_correction1, float bias_correction2, long long N) {
   for (int k = 0; k < 4; k++) {
      const long long i = ((long long)blockIdx.x * 4 + k) * 256 + threadIdx.x;
      if (i < N)
         param[i] = param[i] * (1.0f - lr * weight_decay) -
                    exp_avg[i] / bias_correction1 / (sqrtf(exp_avg_sq[i] / bias_correction2) + eps) * lr * SHARE;
   }
}
