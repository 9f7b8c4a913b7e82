/* rkb-kernel: 1
task: places
direction: forward
launches:
  - kernel: rows
    grid: N
    block: 1
    args: x, y, D
  - kernel: columns
    grid: D
    block: 1
    args: x, z, N, D
*/
__device__ unsigned key(float v) {
   const unsigned b = __float_as_uint(v == 0.0f ? 0.0f : v);
   if (v != v) return 0xffffffffu;
   return b & 0x80000000u ? ~b : b | 0x80000000u;
}
__device__ unsigned least_key(float v) {
   const unsigned b = __float_as_uint(v == 0.0f ? 0.0f : v);
   if (v != v) return 0u;
   return b & 0x80000000u ? ~b : b | 0x80000000u;
}
__global__ void rows(const float *x, long long *y, int D) {
   int best = 0;
   for (int i = 1; i < D; i++)
      if (key(x[blockIdx.x * D + i]) > key(x[blockIdx.x * D + best])) best = i;
   y[blockIdx.x] = best;
}
__global__ void columns(const float *x, long long *z, int N, int D) {
   int best = 0;
   for (int i = 1; i < N; i++)
      if (least_key(x[i * D + blockIdx.x]) < least_key(x[best * D + blockIdx.x])) best = i;
   z[blockIdx.x] = best;
}
