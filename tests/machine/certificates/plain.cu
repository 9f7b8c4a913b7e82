/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/
// why: nothing that a value decides: memory and races hold for all values
// standing: accept
// says: {"assumptions":["the PTX is what runs: the compiler below it is trusted"],"facet":"memory","scope":{"inputs":"all values"
// says: "facet":"values","scope":{"elements":{"ambiguous":0,"dont_care":
// says: approximate functions are rounded correctly where a device may differ by ulps
// says: the PTX is what runs: products and sums that the compiler below it may fuse were not fused
// says: no tested input is infinite, except in tensors that the task calls masked
// says: an integer divided by zero gives all ones
// says: "schedules":"all"
// never: bulk copies
// never: relaxed arrival
// never: "schedules":"one"
// never: fixed_inputs
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
