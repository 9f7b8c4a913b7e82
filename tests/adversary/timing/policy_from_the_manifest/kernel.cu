/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
let:
  rows: B * T
launches:
  - kernel: rmsnorm
    grid: rows
    block: 32
    args: "x, weight, y, eps, D, 1508705875169116160"
*/

__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D, unsigned long long policy) {
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += 32) {
      float value;
      asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(row + i), "l"(policy));
      squares += value * value;
   }
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = threadIdx.x; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
}
