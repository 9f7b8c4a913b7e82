/* rkb-kernel: 1
task: adamw_step
direction: forward
launches:
  - kernel: adamw
    grid: ceildiv(N, 256)
    block: 256
    args: param, grad, exp_avg, exp_avg_sq, lr, beta1, beta2, eps, weight_decay, bias_correction1, bias_correction2, N
*/
// task: adamw_step
// why: each element is changed in place by one thread alone: what the sampled blocks left is judged
// standing: accept
// says: "facet":"sampled"
// says: bench/large
// never: sampled blocks were not judged
__global__ void adamw(float *param, const float *grad, float *exp_avg, float *exp_avg_sq, float lr, float beta1, float beta2,
                      float eps, float weight_decay, float bias_correction1, float bias_correction2, long long N) {
   const long long i = (long long)blockIdx.x * 256 + threadIdx.x;
   if (i >= N)
      return;
   const float first = exp_avg[i] * beta1 + grad[i] * (1.0f - beta1);
   const float second = exp_avg_sq[i] * beta2 + grad[i] * grad[i] * (1.0f - beta2);
   param[i] = param[i] * (1.0f - lr * weight_decay) - first / bias_correction1 / (sqrtf(second / bias_correction2) + eps) * lr;
   exp_avg[i] = first;
   exp_avg_sq[i] = second;
}
