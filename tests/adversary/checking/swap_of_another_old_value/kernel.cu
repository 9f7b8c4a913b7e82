/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
scratch:
  sums: {dtype: float32, shape: "B * T", init: zero}
  arrived: {dtype: int32, shape: "B * T", init: zero}
launches:
  - kernel: rmsnorm
    grid: B * T * 4
    block: 32
    args: x, weight, sums, arrived, y, eps, D
*/
__global__ void rmsnorm(const float *x, const float *weight, float *sums, int *arrived, float *y, float eps, int D) {
   const int lane = threadIdx.x, r = blockIdx.x / 4, part = blockIdx.x % 4;
   const float *row = x + (long long)r * D;
   float squares = 0.0f;
   for (int i = lane + 32 * part; i < D; i += 128)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   int before = 0;
   if (lane == 0) {
      int old;
      do {
         const float sum = atomicAdd(sums + r, 0.0f) + squares;
         old = atomicAdd((int *)sums + r, 0);
         if (atomicCAS((int *)sums + r, old, __float_as_int(sum)) == old)
            break;
      } while (true);
      __threadfence();
      before = atomicAdd(arrived + r, 1);
      __threadfence();
   }
   before = __shfl_sync(0xffffffffu, before, 0);
   if (before != 3)
      return;
   float sum = 0.0f;
   if (lane == 0) {
      sum = atomicAdd(sums + r, 0.0f);
      atomicExch(sums + r, 0.0f);
      atomicExch(arrived + r, 0);
   }
   sum = __shfl_sync(0xffffffffu, sum, 0);
   const float inverse = rsqrtf(sum / D + eps);
   float *out = y + (long long)r * D;
   for (int i = lane; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
}
