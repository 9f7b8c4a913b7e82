/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
scratch:
  part: {dtype: float32, shape: "B * T, ceildiv(D, 256)"}
  arrived: {dtype: int32, shape: "B * T", init: zero}
launches:
  - kernel: parts
    grid: B * T, ceildiv(D, 256)
    block: 32
    args: x, weight, y, part, arrived, eps, D
*/
/* The block of a row that comes last adds up the others' parts and writes the row. */
__global__ void parts(const float *x, const float *weight, float *y, float *part, int *arrived, float eps, int D) {
   const long long row = blockIdx.x;
   __shared__ bool last;
   float s = 0;
   for (int i = blockIdx.y * 256 + threadIdx.x; i < D && i < (blockIdx.y + 1) * 256; i += 32)
      s += x[row * D + i] * x[row * D + i];
   for (int d = 16; d; d >>= 1)
      s += __shfl_xor_sync(0xffffffffu, s, d);
   if (threadIdx.x == 0) {
      part[row * gridDim.y + blockIdx.y] = s;
      __threadfence();
      last = atomicAdd(&arrived[row], 1) == gridDim.y - 1;
   }
   __syncthreads();
   if (!last)
      return;
   __threadfence();
   s = 0;
   for (int n = 0; n < gridDim.y; n++)
      s += __ldcg(&part[row * gridDim.y + n]);
   s = rsqrtf(s / D + eps);
   for (int i = threadIdx.x; i < D; i += 32)
      y[row * D + i] = x[row * D + i] * s * weight[i];
}
