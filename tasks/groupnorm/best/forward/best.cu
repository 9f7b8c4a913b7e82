/* rkb-kernel: 1
task: groupnorm
direction: forward
tune:
  BLOCK: {default: 128, choices: [128, 256, 512]}
  EACH: {default: 4, choices: [2, 4, 8]}
let:
  plane: H * W
  D: M * plane
  vec: if(plane % 4 == 0, 4, 1)
  slice: BLOCK * EACH * vec
  slices: ceildiv(D, slice)
scratch:
  moments: {dtype: float32, shape: "N * G, slices, 2"}
launches:
  - kernel: moments_of_slice<BLOCK, EACH, 4>
    when: plane % 4 == 0
    grid: slices, N * G
    block: BLOCK
    args: x, moments, D
  - kernel: normalise<BLOCK, EACH, 4>
    when: plane % 4 == 0
    grid: slices, N * G
    block: BLOCK
    args: x, weight, bias, moments, y, eps, G, M, plane
  - kernel: moments_of_slice<BLOCK, EACH, 1>
    when: plane % 4 != 0
    grid: slices, N * G
    block: BLOCK
    args: x, moments, D
  - kernel: normalise<BLOCK, EACH, 1>
    when: plane % 4 != 0
    grid: slices, N * G
    block: BLOCK
    args: x, weight, bias, moments, y, eps, G, M, plane
*/

/* The channels of a group lie next to each other, so a group is one long row, which many blocks share, a slice each that fits in its
 * registers.  The first launch leaves every slice's mean and its sum of squared deviations from that mean; the second puts them
 * together (Chan, Golub and LeVeque: 'Updating formulae and a pairwise algorithm for computing sample variances', 1979), in the same
 * order in every block, while its share of x is on its way.  So x is read twice and not three times. */

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
#pragma unroll
   for (int warp = 0; warp < block / 32; warp++)
      total += of_warp[warp];
   return total;
}

/* This thread's share of the block's slice, zero beyond D. */
template <int block, int each, int vec> __device__ void load(Pack<vec> (&packs)[each], const float *row, int D) {
#pragma unroll
   for (int i = 0; i < each; i++) {
      const int at = ((blockIdx.x * each + i) * block + threadIdx.x) * vec;
      packs[i] = Pack<vec>{};
      if (at < D)
         packs[i] = *reinterpret_cast<const Pack<vec> *>(row + at);
   }
}

template <int block, int each, int vec> __global__ void __launch_bounds__(block) moments_of_slice(const float *x, float *moments, int D) {
   Pack<vec> value[each];
   load<block>(value, x + (long long)blockIdx.y * D, D);
   float sum = 0.0f, squares = 0.0f;
#pragma unroll
   for (int i = 0; i < each; i++)
#pragma unroll
      for (int k = 0; k < vec; k++)
         sum += value[i].at[k];
   const int count = min(block * each * vec, D - (int)blockIdx.x * block * each * vec);
   const float mean = block_sum<block>(sum) / count;
#pragma unroll
   for (int i = 0; i < each; i++)
      if (((blockIdx.x * each + i) * block + threadIdx.x) * vec < D)
#pragma unroll
         for (int k = 0; k < vec; k++)
            squares += (value[i].at[k] - mean) * (value[i].at[k] - mean);
   squares = block_sum<block>(squares);
   if (threadIdx.x == 0)
      *(float2 *)(moments + 2 * ((long long)blockIdx.y * gridDim.x + blockIdx.x)) = make_float2(mean, squares);
}

template <int block, int each, int vec>
__global__ void __launch_bounds__(block)
   normalise(const float *x, const float *weight, const float *bias, const float *moments, float *y, float eps, int G, int M, int plane) {
   const int D = M * plane, first_channel = blockIdx.y % G * M;
   Pack<vec> value[each];
   load<block>(value, x + (long long)blockIdx.y * D, D);
   const float2 *slices = (const float2 *)(moments + 2ll * blockIdx.y * gridDim.x);
   constexpr int size = block * each * vec;
   float sum = 0.0f, squares = 0.0f;
   for (int i = threadIdx.x; i < gridDim.x; i += block)
      sum += slices[i].x * min(size, D - i * size);
   const float mean = block_sum<block>(sum) / D;
#pragma unroll 8
   for (int i = threadIdx.x; i < gridDim.x; i += block) {
      const float apart = slices[i].x - mean;
      squares += slices[i].y + apart * apart * min(size, D - i * size);
   }
   const float inverse = rsqrtf(block_sum<block>(squares) / D + eps);
#pragma unroll
   for (int i = 0; i < each; i++) {
      const int at = ((blockIdx.x * each + i) * block + threadIdx.x) * vec;
      if (at >= D)
         continue;
      const int channel = first_channel + at / plane;
      const float factor = inverse * weight[channel], offset = __ldg(&bias[channel]);
#pragma unroll
      for (int k = 0; k < vec; k++)
         value[i].at[k] = (value[i].at[k] - mean) * factor + offset;
      *reinterpret_cast<Pack<vec> *>(y + (long long)blockIdx.y * D + at) = value[i];
   }
}
