/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: taken
    grid: B * T
    block: 32
    args: "struct(x, weight, y, float32 eps, int32 D)"
*/
/* All arguments in one structure. */
struct Arguments {
   const float *x, *weight;
   float *y;
   float eps;
   int D;
};

__global__ void taken(const Arguments a) {
   const float *row = a.x + (long long)blockIdx.x * a.D;
   float s = 0;
   for (int i = threadIdx.x; i < a.D; i += 32)
      s += row[i] * row[i];
   for (int d = 16; d; d >>= 1)
      s += __shfl_xor_sync(0xffffffffu, s, d);
   const float r = rsqrtf(s / a.D + a.eps);
   for (int i = threadIdx.x; i < a.D; i += 32)
      a.y[(long long)blockIdx.x * a.D + i] = row[i] * r * a.weight[i];
}
