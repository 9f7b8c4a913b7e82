/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
scratch:
  inverses: {dtype: float32, shape: "B * T"}
launches:
  - kernel: inverse_of_row
    grid: min(B * T, 300)
    block: 32
    args: x, inverses, eps, B * T, D
  - kernel: scale
    grid: min(B * T, 250)
    block: 32
    args: x, weight, inverses, y, D
*/
// why: two bounds, one with its loop and one without: a shape that comes to both is enough
// standing: reject
// says: of y is never written
__global__ void inverse_of_row(const float *x, float *inverses, float eps, long long rows, int D) {
   for (long long number = blockIdx.x; number < rows; number += gridDim.x) {
      const float *row = x + number * D;
      float squares = 0.0f;
      for (int i = threadIdx.x; i < D; i += 32)
         squares += row[i] * row[i];
      for (int distance = 16; distance > 0; distance /= 2)
         squares += __shfl_xor_sync(0xffffffffu, squares, distance);
      if (threadIdx.x == 0)
         inverses[number] = rsqrtf(squares / D + eps);
   }
}
__global__ void scale(const float *x, const float *weight, const float *inverses, float *y, int D) {
   const long long first = (long long)blockIdx.x * D;
   for (int i = threadIdx.x; i < D; i += 32)
      y[first + i] = x[first + i] * inverses[blockIdx.x] * weight[i];
}
