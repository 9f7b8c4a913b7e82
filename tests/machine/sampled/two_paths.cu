/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/
// why: every other block goes through its row from the end: two control paths, of each of which some block is judged
// standing: accept
// says: "paths":2
// never: "paths_left_out"
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   const int lane = threadIdx.x;
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float squares = 0.0f;
   if (blockIdx.x % 2) {
      for (int i = lane; i < D; i += 32)
         squares += row[i] * row[i];
   } else {
      for (int i = D - 1 - lane; i >= 0; i -= 32)
         squares += row[i] * row[i];
   }
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = lane; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
}
