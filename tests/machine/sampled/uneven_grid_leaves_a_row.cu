/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T / 2 + 1
    block: 32
    args: x, weight, y, eps, B * T, D
*/
// why: one row of the bench shapes has no writer, in a block that hardly any sample has
// standing: reject
// says: (4096 such elements)
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int rows, int D) {
   const int lane = threadIdx.x;
   for (int row_index = blockIdx.x; row_index < rows; row_index += gridDim.x) {
      if (rows > 1000 && row_index == 777)
         continue;
      const float *row = x + (long long)row_index * D;
      float *out = y + (long long)row_index * D;
      float squares = 0.0f;
      for (int i = lane; i < D; i += 32)
         squares += row[i] * row[i];
      for (int distance = 16; distance > 0; distance /= 2)
         squares += __shfl_xor_sync(0xffffffffu, squares, distance);
      const float inverse = rsqrtf(squares / D + eps);
      for (int i = lane; i < D; i += 32)
         out[i] = row[i] * inverse * weight[i];
   }
}
