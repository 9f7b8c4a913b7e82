/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T + 1
    block: 32
    args: x, weight, y, eps, D
*/
// why: block 0 hands the other blocks a factor that they do not wait for: right only where it comes first
// standing: reject
// shows: "order":"descending"
// shows: "found":
__device__ unsigned factor;

__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   const int lane = threadIdx.x;
   if (blockIdx.x == 0) {
      if (lane == 0)
         atomicExch(&factor, __float_as_uint(1.0f));
      return;
   }
   const float *row = x + (long long)(blockIdx.x - 1) * D;
   float *out = y + (long long)(blockIdx.x - 1) * D;
   float squares = 0.0f;
   for (int i = lane; i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   const float inverse = rsqrtf(squares / D + eps) * __uint_as_float(atomicOr(&factor, 0u));
   for (int i = lane; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
   __syncwarp();
   if (blockIdx.x == gridDim.x - 1 && lane == 0)
      atomicExch(&factor, 0u);
}
