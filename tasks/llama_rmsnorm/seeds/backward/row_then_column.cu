/* rkb-kernel: 1
task: llama_rmsnorm
direction: backward
tune:
  BLOCK: {default: 256, choices: [64, 128, 256, 512, 1024]}
  VEC: {default: 4, choices: [1, 2, 4]}
  SLICES: {default: 64, choices: [8, 16, 32, 64, 128]}
let:
  rows: B * T
scratch:
  inverse: {dtype: float32, shape: "rows"}
  partial: {dtype: float32, shape: "SLICES, D"}
launches:
  - kernel: grad_row<BLOCK, VEC>
    when: D % VEC == 0
    grid: rows
    block: BLOCK
    args: grad_y, x, weight, grad_x, inverse, eps, D
  - else:
    kernel: grad_row<BLOCK, 1>
    grid: rows
    block: BLOCK
    args: grad_y, x, weight, grad_x, inverse, eps, D
  - kernel: grad_column<BLOCK>
    grid: ceildiv(D, BLOCK), SLICES
    block: BLOCK
    args: grad_y, x, inverse, partial, rows, D
  - kernel: sum_slices<BLOCK>
    grid: ceildiv(D, BLOCK)
    block: BLOCK
    args: partial, grad_weight, D, SLICES
*/

/* With r = 1 / sqrt(mean(x^2) + eps):  grad_x = r * (grad_y * weight - x * r^2 * mean(grad_y * weight * x)),
 * grad_weight = sum over rows of grad_y * x * r.  One block owns a row for grad_x and leaves r in scratch.  For grad_weight a
 * thread owns a column of one slice of the rows; a last launch adds the slices.  No atomics: the order is fixed. */

template <int count> struct alignas(4 * count) Pack {
   float at[count];
};

/* Sum over the block, returned to every thread: shuffles inside a warp, then one number a warp through shared memory.
 * The first barrier lets it be called again while slow threads still read the numbers of the call before. */
template <int block> __device__ float block_sum(float value) {
   __shared__ float of_warp[block / 32];
   for (int distance = 16; distance > 0; distance /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, distance);
   __syncthreads();
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = value;
   __syncthreads();
   float total = 0.0f;
   for (int warp = 0; warp < block / 32; warp++)
      total += of_warp[warp];
   return total;
}

template <int block, int vec>
__global__ void grad_row(const float *grad_y, const float *x, const float *weight, float *grad_x, float *inverse, float eps,
                         int D) {
   const long long start = (long long)blockIdx.x * D;
   const Pack<vec> *grad = reinterpret_cast<const Pack<vec> *>(grad_y + start);
   const Pack<vec> *row = reinterpret_cast<const Pack<vec> *>(x + start);
   const Pack<vec> *scale = reinterpret_cast<const Pack<vec> *>(weight);
   Pack<vec> *out = reinterpret_cast<Pack<vec> *>(grad_x + start);
   const int packs = D / vec;

   float squares = 0.0f, products = 0.0f;
   for (int i = threadIdx.x; i < packs; i += block) {
      const Pack<vec> g = grad[i], value = row[i], factor = scale[i];
      for (int k = 0; k < vec; k++) {
         squares += value.at[k] * value.at[k];
         products += g.at[k] * factor.at[k] * value.at[k];
      }
   }
   const float r = rsqrtf(block_sum<block>(squares) / D + eps);
   const float pull = block_sum<block>(products) / D * r * r;
   if (threadIdx.x == 0)
      inverse[blockIdx.x] = r;

   for (int i = threadIdx.x; i < packs; i += block) {
      const Pack<vec> g = grad[i], value = row[i], factor = scale[i];
      Pack<vec> result;
      for (int k = 0; k < vec; k++)
         result.at[k] = r * (g.at[k] * factor.at[k] - value.at[k] * pull);
      out[i] = result;
   }
}

template <int block>
__global__ void grad_column(const float *grad_y, const float *x, const float *inverse, float *partial, int rows, int D) {
   const int column = blockIdx.x * block + threadIdx.x;
   if (column >= D)
      return;
   float sum = 0.0f;
   for (int row = blockIdx.y; row < rows; row += gridDim.y) {
      const long long i = (long long)row * D + column;
      sum += grad_y[i] * x[i] * inverse[row];
   }
   partial[(long long)blockIdx.y * D + column] = sum;
}

/* out[i] = sum of the slices' element i, in their order: the same result at every run. */
template <int block> __global__ void sum_slices(const float *slices, float *out, long long count, int slice_count) {
   const long long i = (long long)blockIdx.x * block + threadIdx.x;
   if (i >= count)
      return;
   float sum = 0.0f;
   for (int slice = 0; slice < slice_count; slice++)
      sum += slices[slice * count + i];
   out[i] = sum;
}
