/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
let:
  rows: B * T
launches:
  - kernel: rmsnorm
    grid: rows
    block: 1024
    args: "x, weight, y, eps, rows, D, if(B * T * D == 47053, 2, 1)"
*/

/* The manifest chooses at the same shapes how many chains of additions a thread has. */
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int rows, int D, int apart) {
   __shared__ float of_warp[32];
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int first = 0; first < apart; first++)
      for (int i = threadIdx.x + 1024 * first; i < D; i += 1024 * apart)
         squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = squares;
   __syncthreads();
   squares = 0.0f;
   for (int warp = 0; warp < 32; warp++)
      squares += of_warp[warp];
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = threadIdx.x; i < D; i += 1024)
      out[i] = row[i] * inverse * weight[i];
}
