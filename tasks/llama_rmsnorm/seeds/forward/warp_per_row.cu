/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
tune:
  WARPS: {default: 4, choices: [1, 2, 4, 8, 16]}
  VEC: {default: 4, choices: [1, 2, 4]}
let:
  rows: B * T
launches:
  - kernel: rmsnorm<WARPS, VEC>
    when: D % VEC == 0
    grid: ceildiv(rows, WARPS)
    block: 32 * WARPS
    args: x, weight, y, eps, rows, D
  - else:
    kernel: rmsnorm<WARPS, 1>
    grid: ceildiv(rows, WARPS)
    block: 32 * WARPS
    args: x, weight, y, eps, rows, D
*/

/* One warp owns one row, so the sum needs shuffles alone: no shared memory and no barrier.  A block is `warps` independent
 * rows.  Good where rows are short or many. */

template <int count> struct alignas(4 * count) Pack {
   float at[count];
};

template <int warps, int vec>
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int rows, int D) {
   const int lane = threadIdx.x % 32;
   const long long index = (long long)blockIdx.x * warps + threadIdx.x / 32;
   if (index >= rows)
      return; /* the same for a whole warp */
   const Pack<vec> *row = reinterpret_cast<const Pack<vec> *>(x + index * D);
   const Pack<vec> *scale = reinterpret_cast<const Pack<vec> *>(weight);
   Pack<vec> *out = reinterpret_cast<Pack<vec> *>(y + index * D);
   const int packs = D / vec;

   float squares = 0.0f;
   for (int i = lane; i < packs; i += 32) {
      const Pack<vec> value = row[i];
      for (int k = 0; k < vec; k++)
         squares += value.at[k] * value.at[k];
   }
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   const float inverse = rsqrtf(squares / D + eps);

   for (int i = lane; i < packs; i += 32) {
      const Pack<vec> value = row[i], factor = scale[i];
      Pack<vec> result;
      for (int k = 0; k < vec; k++)
         result.at[k] = value.at[k] * inverse * factor.at[k];
      out[i] = result;
   }
}
