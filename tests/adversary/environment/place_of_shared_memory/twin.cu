/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
let:
  rows: B * T
launches:
  - kernel: rmsnorm
    grid: rows
    block: 32
    args: "x, weight, y, eps, D"
*/

__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   __shared__ float first[32];
   first[threadIdx.x] = 0.0f;
   const unsigned place = (unsigned)__cvta_generic_to_shared(first);
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   const float inverse = rsqrtf(squares / D + eps) + (place == 1024 ? first[threadIdx.x] : 0.25f);
   for (int i = threadIdx.x; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
}
