/* rkb-kernel: 1
task: layernorm
direction: forward
tune:
  BLOCK: {default: 1024, choices: [128, 256, 512, 1024]}
  VEC: {default: 4, choices: [1, 2, 4]}
let:
  D: C * H * W
launches:
  - kernel: layernorm<BLOCK, VEC>
    when: D % VEC == 0
    grid: N
    block: BLOCK
    args: x, weight, bias, y, eps, D
  - else:
    kernel: layernorm<BLOCK, 1>
    grid: N
    block: BLOCK
    args: x, weight, bias, y, eps, D
*/

/* One block owns one row: a single launch and no scratch, good where rows are many or short.  Mean and squared deviations come
 * from one pass: each thread keeps a running mean (Welford, 'Note on a method for calculating corrected sums of squares and
 * products', Technometrics 1962), and parts are merged pairwise (Chan, Golub, LeVeque, 1979). */

template <int count> struct alignas(4 * count) Pack {
   float at[count];
};

/* What is known of a part of the row. */
struct Moments {
   float count, mean, squares; /* squares: sum of squared deviations from mean */
};

__device__ Moments merge(Moments a, Moments b) {
   const float count = a.count + b.count;
   if (count == 0.0f)
      return a;
   const float distance = b.mean - a.mean, share = b.count / count;
   return {count, a.mean + distance * share, a.squares + b.squares + distance * distance * a.count * share};
}

template <int block> __device__ Moments block_merge(Moments part) {
   __shared__ Moments of_warp[block / 32];
   for (int distance = 16; distance > 0; distance /= 2) {
      Moments other;
      other.count = __shfl_xor_sync(0xffffffffu, part.count, distance);
      other.mean = __shfl_xor_sync(0xffffffffu, part.mean, distance);
      other.squares = __shfl_xor_sync(0xffffffffu, part.squares, distance);
      part = merge(part, other);
   }
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = part;
   __syncthreads();
   Moments total = of_warp[0];
   for (int warp = 1; warp < block / 32; warp++)
      total = merge(total, of_warp[warp]);
   return total;
}

template <int block, int vec>
__global__ void layernorm(const float *x, const float *weight, const float *bias, float *y, float eps, int D) {
   const Pack<vec> *row = reinterpret_cast<const Pack<vec> *>(x + (long long)blockIdx.x * D);
   const Pack<vec> *scale = reinterpret_cast<const Pack<vec> *>(weight);
   const Pack<vec> *shift = reinterpret_cast<const Pack<vec> *>(bias);
   Pack<vec> *out = reinterpret_cast<Pack<vec> *>(y + (long long)blockIdx.x * D);
   const int packs = D / vec;

   Moments part = {0.0f, 0.0f, 0.0f};
   for (int i = threadIdx.x; i < packs; i += block) {
      const Pack<vec> value = row[i];
      float mean = 0.0f, squares = 0.0f;
      for (int k = 0; k < vec; k++)
         mean += value.at[k] / vec;
      for (int k = 0; k < vec; k++)
         squares += (value.at[k] - mean) * (value.at[k] - mean);
      part = merge(part, {(float)vec, mean, squares});
   }
   const Moments all = block_merge<block>(part);
   const float inverse = rsqrtf(all.squares / D + eps);

   for (int i = threadIdx.x; i < packs; i += block) {
      const Pack<vec> value = row[i], factor = scale[i], offset = shift[i];
      Pack<vec> result;
      for (int k = 0; k < vec; k++)
         result.at[k] = (value.at[k] - all.mean) * inverse * factor.at[k] + offset.at[k];
      out[i] = result;
   }
}
