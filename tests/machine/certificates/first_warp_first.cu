/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 64
    args: x, weight, y, eps, D
*/
// why: warp 1 takes the sum that warp 0 left by an atomic operation, without waiting for it: right only where warp 0 comes first
// standing: reject
// shows: "order":"descending"
// shows: "ascending":
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   __shared__ unsigned total;
   if (threadIdx.x == 0)
      total = __float_as_uint(1.0f);
   __syncthreads();
   float squares = 0.0f;
   for (int i = lane; i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   if (warp == 0 && lane == 0)
      atomicExch(&total, __float_as_uint(squares));
   if (warp == 1) {
      unsigned bits = 0;
      if (lane == 0)
         bits = atomicOr(&total, 0u);
      bits = __shfl_sync(0xffffffffu, bits, 0);
      const float inverse = rsqrtf(__uint_as_float(bits) / D + eps);
      for (int i = lane; i < D; i += 32)
         out[i] = row[i] * inverse * weight[i];
   }
}
