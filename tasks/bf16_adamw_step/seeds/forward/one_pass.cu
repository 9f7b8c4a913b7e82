/* rkb-kernel: 1
task: bf16_adamw_step
direction: forward
tune:
  BLOCK: {default: 256, choices: [64, 128, 256, 512, 1024]}
  VEC: {default: 4, choices: [1, 2, 4]}
launches:
  - kernel: adamw<BLOCK, VEC>
    when: N % VEC == 0
    grid: ceildiv(N / VEC, BLOCK)
    block: BLOCK
    args: master, grad, exp_avg, exp_avg_sq, param, lr, beta1, beta2, eps, weight_decay, bias_correction1, bias_correction2, N
  - else:
    kernel: adamw<BLOCK, 1>
    grid: ceildiv(N, BLOCK)
    block: BLOCK
    args: master, grad, exp_avg, exp_avg_sq, param, lr, beta1, beta2, eps, weight_decay, bias_correction1, bias_correction2, N
*/

/* Everything in one pass: each array is read or written once in each direction.  The bfloat16 weights are the rounded masters. */

#include <cuda_bf16.h>

template <class number, int count> struct alignas(sizeof(number) * count) Pack {
   number at[count];
};

template <int block, int vec>
__global__ void adamw(float *master, const __nv_bfloat16 *grad, float *exp_avg, float *exp_avg_sq, __nv_bfloat16 *param, float lr,
                      float beta1, float beta2, float eps, float weight_decay, float bias_correction1, float bias_correction2,
                      long long N) {
   typedef Pack<float, vec> floats;
   typedef Pack<__nv_bfloat16, vec> halves;
   const long long i = (long long)blockIdx.x * block + threadIdx.x;
   if (i >= N / vec)
      return;
   floats p = reinterpret_cast<floats *>(master)[i], first = reinterpret_cast<floats *>(exp_avg)[i],
          second = reinterpret_cast<floats *>(exp_avg_sq)[i];
   const halves g = reinterpret_cast<const halves *>(grad)[i];
   halves stored;
   for (int j = 0; j < vec; j++) {
      const float gradient = __bfloat162float(g.at[j]);
      first.at[j] = first.at[j] * beta1 + gradient * (1.0f - beta1);
      second.at[j] = second.at[j] * beta2 + gradient * gradient * (1.0f - beta2);
      const float denominator = sqrtf(second.at[j] / bias_correction2) + eps;
      p.at[j] = p.at[j] * (1.0f - lr * weight_decay) - first.at[j] / bias_correction1 / denominator * lr;
      stored.at[j] = __float2bfloat16(p.at[j]);
   }
   reinterpret_cast<floats *>(master)[i] = p;
   reinterpret_cast<floats *>(exp_avg)[i] = first;
   reinterpret_cast<floats *>(exp_avg_sq)[i] = second;
   reinterpret_cast<halves *>(param)[i] = stored;
}
