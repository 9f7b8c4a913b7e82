/* rkb-kernel: 1
task: masked
direction: forward
tune:
  WARPS: {default: 4, choices: [1, 2, 4, 8, 16]}
  VEC: {default: 4, choices: [1, 2, 4]}
launches:
  - kernel: softmax<WARPS, VEC>
    when: D % VEC == 0
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - else:
    kernel: softmax<WARPS, 1>
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
*/

/* One warp owns one row and reads it twice: each lane keeps the largest value so far and the sum of exponentials below it,
 * rescaling the sum when the largest value grows (Milakov, Gimelshein: 'Online normalizer calculation for softmax', 2018);
 * lanes are merged by shuffles, so there is no barrier. */

template <int count> struct alignas(4 * count) Pack {
   float at[count];
};

/* Merges (largest, sum) of two parts of a row. */
__device__ void merge(float &largest, float &sum, float other_largest, float other_sum) {
   const float both = fmaxf(largest, other_largest);
   sum = sum * expf(largest - both) + other_sum * expf(other_largest - both);
   largest = both;
}

template <int warps, int vec> __global__ void softmax(const float *x, float *y, int N, int D) {
   const int lane = threadIdx.x % 32;
   const long long index = (long long)blockIdx.x * warps + threadIdx.x / 32;
   if (index >= N)
      return; /* the same for a whole warp */
   const Pack<vec> *row = reinterpret_cast<const Pack<vec> *>(x + index * D);
   Pack<vec> *out = reinterpret_cast<Pack<vec> *>(y + index * D);
   const int packs = D / vec;

   float largest = -3.402823466e38f, sum = 0.0f;
   for (int i = lane; i < packs; i += 32) {
      const Pack<vec> value = row[i];
      float peak = -3.402823466e38f;
      for (int k = 0; k < vec; k++)
         peak = fmaxf(peak, value.at[k]);
      float part = 0.0f;
      for (int k = 0; k < vec; k++)
         part += expf(value.at[k] - peak);
      merge(largest, sum, peak, part);
   }
   for (int distance = 16; distance > 0; distance /= 2) {
      const float other_largest = __shfl_xor_sync(0xffffffffu, largest, distance);
      const float other_sum = __shfl_xor_sync(0xffffffffu, sum, distance);
      merge(largest, sum, other_largest, other_sum);
   }
   const float inverse = 1.0f / sum;

   for (int i = lane; i < packs; i += 32) {
      const Pack<vec> value = row[i];
      Pack<vec> result;
      for (int k = 0; k < vec; k++)
         result.at[k] = expf(value.at[k] - largest) * inverse;
      out[i] = result;
   }
}
