/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/
// why: rows end at 16,380 elements, four short of what the domain allows: only a shape at its end shows it, and a single row costs little
// standing: reject
// says: never written
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   const long long first = (long long)blockIdx.x * D;
   const int end = min(D, 16380);
   float squares = 0.0f;
   for (int i = threadIdx.x; i < end; i += 32)
      squares += x[first + i] * x[first + i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = threadIdx.x; i < end; i += 32)
      y[first + i] = x[first + i] * inverse * weight[i];
}
