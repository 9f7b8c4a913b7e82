/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
scratch:
  inverse: {dtype: float32, shape: "B * T"}
launches:
  - kernel: inverses
    grid: B * T
    block: 32
    args: x, inverse, eps, D
  - kernel: scale
    grid: D
    block: 32
    args: x, weight, inverse, y, B * T, D
*/
// why: what the second launch's blocks read comes from blocks of the first that were not executed: each launch is judged by itself
// standing: accept
// says: case bench/published: sampled blocks were not judged
// says: "given":{"inverse":"inverse_rms"}
__global__ void inverses(const float *x, float *inverse, float eps, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   if (threadIdx.x == 0)
      inverse[blockIdx.x] = rsqrtf(squares / D + eps);
}
/* A block a column: every one reads all that the first launch wrote. */
__global__ void scale(const float *x, const float *weight, const float *inverse, float *y, int rows, int D) {
   float least = inverse[0];
   for (int r = 1; r < rows; r++)
      least = fminf(least, inverse[r]);
   for (int r = threadIdx.x; r < rows; r += 32)
      y[(long long)r * D + blockIdx.x] = x[(long long)r * D + blockIdx.x] * fmaxf(inverse[r], least) * weight[blockIdx.x];
}
