/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
scratch:
  done: {dtype: int32, shape: "B * T", init: zero}
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 32
    args: x, weight, done, y, eps, D
*/
// why: every block waits for the next one: where a shape has more blocks than the device holds, none of them ever ends
// standing: reject
// set: screen.machine.with.shapes=1
// shows: "reason":"sync.deadlock"
__global__ void rmsnorm(const float *x, const float *weight, int *done, float *y, float eps, int D) {
   const int lane = threadIdx.x;
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   if (lane == 0 && blockIdx.x + 1 < gridDim.x)
      while (atomicAdd(done + blockIdx.x + 1, 0) == 0)
         ;
   __syncthreads();
   float squares = 0.0f;
   for (int i = lane; i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = lane; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
   __threadfence();
   if (lane == 0)
      atomicExch(done + blockIdx.x, 1);
}
