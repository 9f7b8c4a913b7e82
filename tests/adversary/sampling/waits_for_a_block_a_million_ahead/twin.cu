/* rkb-kernel: 1
task: adamw_step
direction: forward
scratch:
  done: {dtype: int32, shape: "ceildiv(N, 128)", init: zero}
  taken: {dtype: int32, shape: "1", init: zero}
launches:
  - kernel: adamw
    grid: ceildiv(N, 128)
    block: 128
    args: param, grad, exp_avg, exp_avg_sq, done, taken, lr, beta1, beta2, eps, weight_decay, bias_correction1, bias_correction2, N
*/
__device__ __forceinline__ int acquire(const int *p) {
   int value;
   asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
   return value;
}
__global__ void adamw(float *param, const float *grad, float *exp_avg, float *exp_avg_sq, int *done, int *taken, float lr, float beta1,
                      float beta2, float eps, float weight_decay, float bias_correction1, float bias_correction2, long long N) {
   const int blocks = gridDim.x;
   __shared__ int number;
   if (threadIdx.x == 0)
      number = atomicAdd(taken, 1) % blocks;
   __syncthreads();
   const int block = number;
   const long long i = (long long)block * 128 + threadIdx.x;
   if (threadIdx.x == 0 && block >= 1000000)
      while (acquire(done + block - 1000000) == 0)
         ;
   __syncthreads();
   if (i < N) {
      const float g = grad[i], first = exp_avg[i] * beta1 + g * (1.0f - beta1),
                  second = exp_avg_sq[i] * beta2 + g * g * (1.0f - beta2);
      const float denominator = sqrtf(second / bias_correction2) + eps;
      param[i] = param[i] * (1.0f - lr * weight_decay) - first / bias_correction1 / denominator * lr;
      exp_avg[i] = first;
      exp_avg_sq[i] = second;
   }
   __syncthreads();
   if (threadIdx.x == 0) {
      __threadfence();
      atomicExch(done + block, 1);
   }
}
