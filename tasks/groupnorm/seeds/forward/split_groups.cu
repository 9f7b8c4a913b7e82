/* rkb-kernel: 1
task: groupnorm
direction: forward
tune:
  BLOCK: {default: 256, choices: [64, 128, 256, 512]}
  VEC: {default: 4, choices: [1, 2, 4]}
  SLICES: {default: 16, choices: [1, 4, 8, 16, 32, 64]}
let:
  plane: H * W
  D: M * H * W
scratch:
  sums: {dtype: float32, shape: "N * G, SLICES"}
  deviations: {dtype: float32, shape: "N * G, SLICES"}
launches:
  - kernel: sum_slices<BLOCK, VEC>
    when: plane % VEC == 0
    grid: SLICES, N * G
    block: BLOCK
    args: x, sums, D
  - else:
    kernel: sum_slices<BLOCK, 1>
    grid: SLICES, N * G
    block: BLOCK
    args: x, sums, D
  - kernel: deviation_slices<BLOCK, VEC>
    when: plane % VEC == 0
    grid: SLICES, N * G
    block: BLOCK
    args: x, sums, deviations, D
  - else:
    kernel: deviation_slices<BLOCK, 1>
    grid: SLICES, N * G
    block: BLOCK
    args: x, sums, deviations, D
  - kernel: normalise<BLOCK, VEC>
    when: plane % VEC == 0
    grid: SLICES, N * G
    block: BLOCK
    args: x, weight, bias, sums, deviations, y, eps, G, M, plane
  - else:
    kernel: normalise<BLOCK, 1>
    grid: SLICES, N * G
    block: BLOCK
    args: x, weight, bias, sums, deviations, y, eps, G, M, plane
*/

/* The channels of a group lie next to each other, so a group is one long row.  SLICES blocks share it: slice sums for the mean,
 * slice sums of squared deviations from that mean, then the result; between launches the slices' numbers lie in scratch and every
 * block adds them up in the same order. */

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

/* Sum of one group's slice numbers, for every thread. */
template <int block> __device__ float total_of(const float *slices, int group, int count) {
   float sum = 0.0f;
   for (int i = threadIdx.x; i < count; i += block)
      sum += slices[group * count + i];
   return block_sum<block>(sum);
}

template <int block, int vec> __global__ void sum_slices(const float *x, float *sums, int D) {
   const Pack<vec> *group = reinterpret_cast<const Pack<vec> *>(x + (long long)blockIdx.y * D);
   float sum = 0.0f;
   for (int i = blockIdx.x * block + threadIdx.x; i < D / vec; i += gridDim.x * block) {
      const Pack<vec> value = group[i];
      for (int k = 0; k < vec; k++)
         sum += value.at[k];
   }
   sum = block_sum<block>(sum);
   if (threadIdx.x == 0)
      sums[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

template <int block, int vec> __global__ void deviation_slices(const float *x, const float *sums, float *deviations, int D) {
   const Pack<vec> *group = reinterpret_cast<const Pack<vec> *>(x + (long long)blockIdx.y * D);
   const float mean = total_of<block>(sums, blockIdx.y, gridDim.x) / D;
   float squares = 0.0f;
   for (int i = blockIdx.x * block + threadIdx.x; i < D / vec; i += gridDim.x * block) {
      const Pack<vec> value = group[i];
      for (int k = 0; k < vec; k++)
         squares += (value.at[k] - mean) * (value.at[k] - mean);
   }
   squares = block_sum<block>(squares);
   if (threadIdx.x == 0)
      deviations[blockIdx.y * gridDim.x + blockIdx.x] = squares;
}

template <int block, int vec>
__global__ void normalise(const float *x, const float *weight, const float *bias, const float *sums, const float *deviations,
                          float *y, float eps, int G, int M, int plane) {
   const int D = M * plane, first_channel = blockIdx.y % G * M;
   const Pack<vec> *group = reinterpret_cast<const Pack<vec> *>(x + (long long)blockIdx.y * D);
   Pack<vec> *out = reinterpret_cast<Pack<vec> *>(y + (long long)blockIdx.y * D);
   const float mean = total_of<block>(sums, blockIdx.y, gridDim.x) / D;
   const float inverse = rsqrtf(total_of<block>(deviations, blockIdx.y, gridDim.x) / D + eps);
   for (int i = blockIdx.x * block + threadIdx.x; i < D / vec; i += gridDim.x * block) {
      const int channel = first_channel + i / (plane / vec);
      const float scale = weight[channel] * inverse, shift = bias[channel];
      const Pack<vec> value = group[i];
      Pack<vec> result;
      for (int k = 0; k < vec; k++)
         result.at[k] = (value.at[k] - mean) * scale + shift;
      out[i] = result;
   }
}
