/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: 1, B * T
    block: 32
    args: x, weight, y, eps, D
*/
// why: 65,535 blocks are all that a grid has in its second axis, and a shape of the domain has more rows: there is no launch for it
// standing: reject
// says: allows 0 to 65535
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   const long long first = (long long)blockIdx.y * D;
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += 32)
      squares += x[first + i] * x[first + i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = threadIdx.x; i < D; i += 32)
      y[first + i] = x[first + i] * inverse * weight[i];
}
