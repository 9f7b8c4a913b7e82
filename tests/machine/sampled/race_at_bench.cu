/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 64
    args: x, weight, y, eps, D
*/
// why: at the bench shape alone two warps store different values of each element, and the second one is right
// standing: reject
// shows: "bench/published"
// shows: "reason":"race.global"
// says: case bench/published
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   const int lane = threadIdx.x % 32;
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = lane; i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   const float inverse = rsqrtf(squares / D + eps);
   const bool second = threadIdx.x >= 32;
   for (int i = lane; i < D && (second || (D == 4096 && gridDim.x > 2000)); i += 32)
      out[i] = row[i] * inverse * weight[i] * (second ? 1.0f : 1.01f);
}
