/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
let:
  rows: B * T
scratch:
  counter: {dtype: int32, shape: "2", init: zero}
launches:
  - kernel: rmsnorm
    grid: "rows"
    block: 32
    args: "x, weight, y, eps, rows, D, counter"
*/

static __device__ __forceinline__ void one(const float *x, const float *weight, float *y, float eps, int row, int D, float by) {
   const float *in = x + (long long)row * D;
   float *out = y + (long long)row * D;
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += 32)
      squares += in[i] * in[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = threadIdx.x; i < D; i += 32)
      out[i] = in[i] * inverse * weight[i] * by;
}

__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int rows, int D, int *counter) {
   int row = 0;
   if (threadIdx.x == 0) {
      row = *(volatile int *)counter;
      for (int seen; (seen = atomicCAS(counter, row, row + 1)) != row; row = seen)
         ;
   }
   row = __shfl_sync(0xffffffffu, row, 0);
   one(x, weight, y, eps, row, D, 1.0f);
}
