/* rkb-kernel: 1
task: layernorm
direction: backward
tune:
  BLOCK: {default: 256, choices: [64, 128, 256, 512]}
  VEC: {default: 4, choices: [1, 2, 4]}
  SLICES: {default: 128, choices: [32, 64, 128, 256]}
let:
  D: C * H * W
scratch:
  sums: {dtype: float32, shape: "N, SLICES"}
  moments: {dtype: float32, shape: "3, N, SLICES"}
  rows: {dtype: float32, shape: "4, N"}
launches:
  - kernel: sum_slices<BLOCK, VEC>
    when: D % VEC == 0
    grid: SLICES, N
    block: BLOCK
    args: x, sums, D
  - else:
    kernel: sum_slices<BLOCK, 1>
    grid: SLICES, N
    block: BLOCK
    args: x, sums, D
  - kernel: moment_slices<BLOCK, VEC>
    when: D % VEC == 0
    grid: SLICES, N
    block: BLOCK
    args: grad_y, x, weight, sums, moments, D
  - else:
    kernel: moment_slices<BLOCK, 1>
    grid: SLICES, N
    block: BLOCK
    args: grad_y, x, weight, sums, moments, D
  - kernel: finish_rows<BLOCK>
    grid: N
    block: BLOCK
    args: sums, moments, rows, eps, SLICES, D
  - kernel: apply<BLOCK, VEC>
    when: D % VEC == 0
    grid: ceildiv(D / VEC, BLOCK)
    block: BLOCK
    args: grad_y, x, weight, rows, grad_x, grad_weight, grad_bias, N, D
  - else:
    kernel: apply<BLOCK, 1>
    grid: ceildiv(D, BLOCK)
    block: BLOCK
    args: grad_y, x, weight, rows, grad_x, grad_weight, grad_bias, N, D
*/

/* With h = (x - mean) * r and g = grad_y * weight:  grad_x = r * (g - mean(g) - h * mean(g * h)), and over the rows
 * grad_weight = sum of grad_y * h, grad_bias = sum of grad_y.  Rows are long and few: slices of a row give the mean, then (about
 * that mean) the sums of squared deviations, of g and of g * (x - mean); one small block a row turns them into four numbers; at
 * last a thread owns a column, walks over the rows, writes grad_x and keeps grad_weight and grad_bias in registers. */

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

/* Sum of one row's slice numbers, for every thread. */
template <int block> __device__ float total_of(const float *slices, int row, int count) {
   float sum = 0.0f;
   for (int i = threadIdx.x; i < count; i += block)
      sum += slices[row * count + i];
   return block_sum<block>(sum);
}

template <int block, int vec> __global__ void sum_slices(const float *x, float *sums, int D) {
   const Pack<vec> *row = reinterpret_cast<const Pack<vec> *>(x + (long long)blockIdx.y * D);
   float sum = 0.0f;
   for (int i = blockIdx.x * block + threadIdx.x; i < D / vec; i += gridDim.x * block) {
      const Pack<vec> value = row[i];
      for (int k = 0; k < vec; k++)
         sum += value.at[k];
   }
   sum = block_sum<block>(sum);
   if (threadIdx.x == 0)
      sums[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

template <int block, int vec>
__global__ void moment_slices(const float *grad_y, const float *x, const float *weight, const float *sums, float *moments,
                              int D) {
   const Pack<vec> *row = reinterpret_cast<const Pack<vec> *>(x + (long long)blockIdx.y * D);
   const Pack<vec> *grad = reinterpret_cast<const Pack<vec> *>(grad_y + (long long)blockIdx.y * D);
   const Pack<vec> *scale = reinterpret_cast<const Pack<vec> *>(weight);
   const float mean = total_of<block>(sums, blockIdx.y, gridDim.x) / D;
   float squares = 0.0f, grads = 0.0f, products = 0.0f;
   for (int i = blockIdx.x * block + threadIdx.x; i < D / vec; i += gridDim.x * block) {
      const Pack<vec> value = row[i], g = grad[i], factor = scale[i];
      for (int k = 0; k < vec; k++) {
         const float deviation = value.at[k] - mean, weighted = g.at[k] * factor.at[k];
         squares += deviation * deviation;
         grads += weighted;
         products += weighted * deviation;
      }
   }
   squares = block_sum<block>(squares);
   grads = block_sum<block>(grads);
   products = block_sum<block>(products);
   if (threadIdx.x == 0) {
      const int slot = blockIdx.y * gridDim.x + blockIdx.x, all = gridDim.y * gridDim.x;
      moments[slot] = squares;
      moments[all + slot] = grads;
      moments[2 * all + slot] = products;
   }
}

template <int block>
__global__ void finish_rows(const float *sums, const float *moments, float *rows, float eps, int slices, int D) {
   const int row = blockIdx.x, count = gridDim.x, all = count * slices;
   const float mean = total_of<block>(sums, row, slices) / D;
   const float r = rsqrtf(total_of<block>(moments, row, slices) / D + eps);
   const float mean_grad = total_of<block>(moments + all, row, slices) / D;
   const float mean_product = total_of<block>(moments + 2 * all, row, slices) / D * r; /* mean(g * h) */
   if (threadIdx.x == 0) {
      rows[row] = mean;
      rows[count + row] = r;
      rows[2 * count + row] = mean_grad;
      rows[3 * count + row] = mean_product;
   }
}

template <int block, int vec>
__global__ void apply(const float *__restrict__ grad_y, const float *__restrict__ x, const float *__restrict__ weight, const float *__restrict__ rows, float *__restrict__ grad_x,
                      float *__restrict__ grad_weight, float *__restrict__ grad_bias, int N, int D) {
   const int i = blockIdx.x * block + threadIdx.x, packs = D / vec;
   if (i >= packs)
      return;
   const Pack<vec> factor = reinterpret_cast<const Pack<vec> *>(weight)[i];
   Pack<vec> weight_sum = {}, bias_sum = {};
   for (int row = 0; row < N; row++) {
      const float mean = rows[row], r = rows[N + row], mean_grad = rows[2 * N + row], mean_product = rows[3 * N + row];
      const long long at = (long long)row * packs + i;
      const Pack<vec> g = reinterpret_cast<const Pack<vec> *>(grad_y)[at], value = reinterpret_cast<const Pack<vec> *>(x)[at];
      Pack<vec> result;
      for (int k = 0; k < vec; k++) {
         const float h = (value.at[k] - mean) * r;
         result.at[k] = r * (g.at[k] * factor.at[k] - mean_grad - h * mean_product);
         weight_sum.at[k] += g.at[k] * h;
         bias_sum.at[k] += g.at[k];
      }
      reinterpret_cast<Pack<vec> *>(grad_x)[at] = result;
   }
   reinterpret_cast<Pack<vec> *>(grad_weight)[i] = weight_sum;
   reinterpret_cast<Pack<vec> *>(grad_bias)[i] = bias_sum;
}
