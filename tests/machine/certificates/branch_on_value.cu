/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/
// why: how often the loop turns depends on x: only the tested values of x are known to end and to stay in bounds
// standing: accept
// says: "fixed_inputs":["x"]
// never: "inputs":"all values"
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
   for (int i = lane; i < D; i += 32) {
      float value = row[i];
      int halved = 0;
      while (fabsf(value) > 4.0f) { /* exact in both directions */
         value *= 0.5f;
         halved++;
      }
      for (; halved > 0; halved--)
         value *= 2.0f;
      out[i] = value * inverse * weight[i];
   }
}
