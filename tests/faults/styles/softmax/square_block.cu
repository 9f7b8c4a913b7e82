/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: square
    grid: N
    block: 32, 32
    args: x, y, D
*/
/* A square block, flattened by hand; the second dimension joins what the first left. */
__global__ void square(const float *x, float *y, int D) {
   __shared__ float of_row[33];
   const int t = threadIdx.y * blockDim.x + threadIdx.x, all = blockDim.x * blockDim.y;
   const float *in = x + (long long)blockIdx.x * D;
   float v[2] = {-__int_as_float(0x7f800000), 0};
   for (int round = 0; round < 2; round++) {
      for (int i = t; i < D; i += all)
         v[round] = round ? v[1] + expf(in[i] - v[0]) : fmaxf(v[0], in[i]);
      for (int d = 16; d > 0; d >>= 1) {
         const float o = __shfl_xor_sync(0xffffffffu, v[round], d);
         v[round] = round ? v[1] + o : fmaxf(v[0], o);
      }
      if (threadIdx.x == 0)
         of_row[threadIdx.y] = v[round];
      __syncthreads();
      if (threadIdx.y == 0) {
         float w = of_row[threadIdx.x];
         for (int d = 16; d > 0; d >>= 1) {
            const float o = __shfl_xor_sync(0xffffffffu, w, d);
            w = round ? w + o : fmaxf(w, o);
         }
         if (threadIdx.x == 0)
            of_row[32] = w;
      }
      __syncthreads();
      v[round] = of_row[32];
   }
   for (int i = t; i < D; i += all)
      y[(long long)blockIdx.x * D + i] = expf(in[i] - v[0]) / v[1];
}
