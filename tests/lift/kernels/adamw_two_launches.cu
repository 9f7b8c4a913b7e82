/* rkb-kernel: 1
task: adamw_step
direction: forward
tune:
  BLOCK: {default: 256, choices: [128, 256, 512]}
scratch:
  step: {dtype: float32, shape: "N"}
launches:
  - kernel: moments<BLOCK>
    grid: ceildiv(N, BLOCK)
    block: BLOCK
    args: grad, exp_avg, exp_avg_sq, step, beta1, beta2, eps, bias_correction1, bias_correction2, N
  - kernel: apply<BLOCK>
    grid: ceildiv(N, BLOCK)
    block: BLOCK
    args: param, step, lr, weight_decay, N
*/

/* The moments and each element's step first, the parameters in a second launch. */

template <int block>
__global__ void moments(const float *grad, float *exp_avg, float *exp_avg_sq, float *step, float beta1, float beta2, float eps,
                        float bias_correction1, float bias_correction2, long long N) {
   const long long i = (long long)blockIdx.x * block + threadIdx.x;
   if (i >= N)
      return;
   const float g = grad[i], first = exp_avg[i] * beta1 + g * (1.0f - beta1), second = exp_avg_sq[i] * beta2 + g * g * (1.0f - beta2);
   exp_avg[i] = first;
   exp_avg_sq[i] = second;
   step[i] = first / bias_correction1 / (sqrtf(second / bias_correction2) + eps);
}

template <int threads> __global__ void apply(float *param, const float *change, float lr, float weight_decay, long long N) {
   const long long i = (long long)blockIdx.x * threads + threadIdx.x;
   if (i < N)
      param[i] = param[i] * (1.0f - lr * weight_decay) - change[i] * lr;
}
