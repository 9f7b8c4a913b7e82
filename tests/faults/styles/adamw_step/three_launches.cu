/* rkb-kernel: 1
task: adamw_step
direction: forward
launches:
  - kernel: first
    grid: ceildiv(N, 128)
    block: 128
    args: grad, exp_avg, beta1, N
  - kernel: second
    grid: ceildiv(N, 128)
    block: 128
    args: grad, exp_avg_sq, beta2, N
  - kernel: third
    grid: ceildiv(N, 128)
    block: 128
    args: param, exp_avg, exp_avg_sq, lr, eps, weight_decay, bias_correction1, bias_correction2, N
*/
/* Each state has a launch of its own. */
__global__ void first(const float *grad, float *m, float beta, long long N) {
   const long long i = blockIdx.x * 128ll + threadIdx.x;
   if (i < N)
      m[i] = beta * m[i] + (1 - beta) * grad[i];
}

__global__ void second(const float *grad, float *v, float beta, long long N) {
   const long long i = blockIdx.x * 128ll + threadIdx.x;
   if (i < N)
      v[i] = beta * v[i] + (1 - beta) * (grad[i] * grad[i]);
}

__global__ void third(float *param, const float *m, const float *v, float lr, float eps, float decay, float c1, float c2, long long N) {
   const long long i = blockIdx.x * 128ll + threadIdx.x;
   if (i < N)
      param[i] = param[i] * (1 - lr * decay) - lr * (m[i] / c1) / (sqrtf(v[i] / c2) + eps);
}
