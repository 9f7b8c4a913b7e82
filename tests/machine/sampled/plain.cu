/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/
// why: blocks of the bench shape, on its inputs, within the bound
// standing: accept
// says: "facet":"sampled","scope":{"elements":
// says: "missed_with_5_percent":1
// says: "shapes":["bench/published"]
// says: "paths":1
// never: sampled blocks were not judged
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   const int lane = threadIdx.x;
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = lane; i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = lane; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
}
