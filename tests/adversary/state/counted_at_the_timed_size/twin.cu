/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
let:
  rows: B * T
launches:
  - kernel: rmsnorm
    grid: rows
    block: 32
    args: "x, weight, y, eps, rows, D"
*/

__device__ unsigned count;

__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int rows, int D) {
   unsigned ticket = 0;
   if (threadIdx.x == 0)
      ticket = atomicInc(&count, gridDim.x - 1);
   ticket = __shfl_sync(0xffffffffu, ticket, 0);
   const float *row = x + (long long)ticket * D;
   float *out = y + (long long)ticket * D;
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = threadIdx.x; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
}
