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
    args: x, weight, y, eps, D, sums, arrived
*/

__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D, float *sums, int *arrived) {
   const int lane = threadIdx.x % 32;
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   const int r = blockIdx.x / 4, part = blockIdx.x % 4;
   row = x + (long long)r * D;
   out = y + (long long)r * D;
   float squares = 0.0f;
   for (int i = lane + 32 * part; i < D; i += 128)
      squares += row[i] * row[i];
   for (int d = 16; d > 0; d /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, d);

   int before = 0;
   if (lane == 0) {
      atomicAdd_block(sums + r, squares);
      __threadfence();
      before = atomicAdd(arrived + r, 1);
      __threadfence();
   }
   before = __shfl_sync(0xffffffffu, before, 0);
   if (before != 3)
      return;
   if (lane == 0) { squares = atomicExch(sums + r, 0.0f); arrived[r] = 0; }
   squares = __shfl_sync(0xffffffffu, squares, 0);
      const float inverse = rsqrtf(squares / D + eps);
   for (int i = threadIdx.x; i < D; i += blockDim.x)
      out[i] = row[i] * inverse * weight[i];

}
