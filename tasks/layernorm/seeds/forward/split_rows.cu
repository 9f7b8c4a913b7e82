/* rkb-kernel: 1
task: layernorm
direction: forward
tune:
  BLOCK: {default: 256, choices: [64, 128, 256, 512]}
  VEC: {default: 4, choices: [1, 2, 4]}
  SLICES: {default: 256, choices: [32, 64, 128, 256, 512]}
let:
  D: C * H * W
scratch:
  sums: {dtype: float32, shape: "N, SLICES"}
  deviations: {dtype: float32, shape: "N, SLICES"}
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
  - kernel: deviation_slices<BLOCK, VEC>
    when: D % VEC == 0
    grid: SLICES, N
    block: BLOCK
    args: x, sums, deviations, D
  - else:
    kernel: deviation_slices<BLOCK, 1>
    grid: SLICES, N
    block: BLOCK
    args: x, sums, deviations, D
  - kernel: normalise<BLOCK, VEC>
    when: D % VEC == 0
    grid: SLICES, N
    block: BLOCK
    args: x, weight, bias, sums, deviations, y, eps, D
  - else:
    kernel: normalise<BLOCK, 1>
    grid: SLICES, N
    block: BLOCK
    args: x, weight, bias, sums, deviations, y, eps, D
*/

/* A row has millions of elements and there are few rows, so many blocks share a row.  Three launches: slice sums for the mean,
 * slice sums of squared deviations from that mean (two passes: exact enough for any mean), then the result.  Between them the
 * slices' numbers lie in scratch and every block adds them up again, in the same order. */

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

template <int block, int vec> __global__ void deviation_slices(const float *x, const float *sums, float *deviations, int D) {
   const Pack<vec> *row = reinterpret_cast<const Pack<vec> *>(x + (long long)blockIdx.y * D);
   const float mean = total_of<block>(sums, blockIdx.y, gridDim.x) / D;
   float squares = 0.0f;
   for (int i = blockIdx.x * block + threadIdx.x; i < D / vec; i += gridDim.x * block) {
      const Pack<vec> value = row[i];
      for (int k = 0; k < vec; k++)
         squares += (value.at[k] - mean) * (value.at[k] - mean);
   }
   squares = block_sum<block>(squares);
   if (threadIdx.x == 0)
      deviations[blockIdx.y * gridDim.x + blockIdx.x] = squares;
}

template <int block, int vec>
__global__ void normalise(const float *x, const float *weight, const float *bias, const float *sums, const float *deviations,
                          float *y, float eps, int D) {
   const Pack<vec> *row = reinterpret_cast<const Pack<vec> *>(x + (long long)blockIdx.y * D);
   const Pack<vec> *scale = reinterpret_cast<const Pack<vec> *>(weight);
   const Pack<vec> *shift = reinterpret_cast<const Pack<vec> *>(bias);
   Pack<vec> *out = reinterpret_cast<Pack<vec> *>(y + (long long)blockIdx.y * D);
   const float mean = total_of<block>(sums, blockIdx.y, gridDim.x) / D;
   const float inverse = rsqrtf(total_of<block>(deviations, blockIdx.y, gridDim.x) / D + eps);
   for (int i = blockIdx.x * block + threadIdx.x; i < D / vec; i += gridDim.x * block) {
      const Pack<vec> value = row[i], factor = scale[i], offset = shift[i];
      Pack<vec> result;
      for (int k = 0; k < vec; k++)
         result.at[k] = (value.at[k] - mean) * inverse * factor.at[k] + offset.at[k];
      out[i] = result;
   }
}
