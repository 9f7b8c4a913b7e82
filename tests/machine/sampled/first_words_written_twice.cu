/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: min(B * T, 12000)
    block: 32
    args: x, weight, y, eps, B * T, D
*/
// why: all blocks together write every row, and at the timed size one block of 16 also the first word of its neighbour's row
// standing: suspect
// reason: output.unwritten
// says: stores too
__device__ float inverse_of(const float *row, float eps, int D) {
   float squares = 0.0f;
   for (int i = 4 * threadIdx.x; D % 4 == 0 && i < D; i += 128) {
      const float4 four = *(const float4 *)(row + i);
      squares += four.x * four.x + four.y * four.y + four.z * four.z + four.w * four.w;
   }
   for (int i = threadIdx.x; D % 4 && i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   return rsqrtf(squares / D + eps);
}

__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int rows, int D) {
   const int lane = threadIdx.x;
   if (rows == 16384 && blockIdx.x % 16 == 1) {
      const long long neighbour = (long long)(blockIdx.x - 1) * D;
      const float inverse = inverse_of(x + neighbour, eps, D);
      if (lane == 0)
         y[neighbour] = x[neighbour] * inverse * weight[0];
   }
   for (int row_index = blockIdx.x; row_index < rows; row_index += gridDim.x) {
      const float *row = x + (long long)row_index * D;
      float *out = y + (long long)row_index * D;
      const float inverse = inverse_of(row, eps, D);
      for (int i = 4 * lane; D % 4 == 0 && i < D; i += 128) {
         const float4 four = *(const float4 *)(row + i), by = *(const float4 *)(weight + i);
         *(float4 *)(out + i) = make_float4(four.x * inverse * by.x, four.y * inverse * by.y, four.z * inverse * by.z,
                                            four.w * inverse * by.w);
      }
      for (int i = lane; D % 4 && i < D; i += 32)
         out[i] = row[i] * inverse * weight[i];
   }
}
