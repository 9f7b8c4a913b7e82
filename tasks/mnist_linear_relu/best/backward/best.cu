/* rkb-kernel: 1
task: mnist_linear_relu
direction: backward
tune:
  WARPS: {default: 8, choices: [1, 2, 4, 8]}
let:
  rows: N
scratch:
  masked: {dtype: float32, shape: "rows, O"}
launches:
  - kernel: mask<WARPS, 4>
    when: I % 4 == 0
    grid: ceildiv(rows * O, WARPS)
    block: 32 * WARPS
    args: grad_y, x, weight, bias, masked, rows, I, O
  - kernel: gradients<4>
    when: I % 4 == 0
    grid: ceildiv(I, 128) * (ceildiv(rows, 8) + O)
    block: 256
    args: masked, x, weight, grad_x, grad_weight, grad_bias, rows, I, O, ceildiv(I, 128) * ceildiv(rows, 8)
  - kernel: mask<WARPS, 1>
    when: I % 4 != 0
    grid: ceildiv(rows * O, WARPS)
    block: 32 * WARPS
    args: grad_y, x, weight, bias, masked, rows, I, O
  - kernel: gradients<1>
    when: I % 4 != 0
    grid: ceildiv(I, 32) * (ceildiv(rows, 8) + O)
    block: 256
    args: masked, x, weight, grad_x, grad_weight, grad_bias, rows, I, O, ceildiv(I, 32) * ceildiv(rows, 8)
*/

/* relu passes a gradient where x * weight' + bias > 0, which is computed again, a warp an output, and leaves the masked gradient g in
 * scratch.  Then  grad_x = g * weight, grad_weight = g' * x, grad_bias = column sums of g  in one launch, straight from the
 * definition, whose blocks divide the three gradients among them: two launches, for small layers. */

template <int count> struct alignas(4 * count) Pack {
   float at[count];
};
template <int vec> __device__ Pack<vec> load(const float *from) { return *reinterpret_cast<const Pack<vec> *>(from); }
template <int vec> __device__ void store(float *to, const Pack<vec> &pack) { *reinterpret_cast<Pack<vec> *>(to) = pack; }

/* All gradients at once.  The first input_blocks blocks take 8 rows of grad_x each, a warp a row; every other block takes 32 vectors of one
 * row of grad_weight, whose sum over the rows of x its 8 warps share, and the first such block of an output its bias. */
template <int vec>
__global__ void __launch_bounds__(256, 4) gradients(const float *grad, const float *x, const float *weight, float *grad_x, float *grad_weight,
                                                 float *grad_bias, int rows, int inner, int outer, int input_blocks) {
   __shared__ Pack<vec> part[8][32];
   __shared__ float part_bias[8];
   const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, across = (inner + 32 * vec - 1) / (32 * vec);
   const int block = blockIdx.x < input_blocks ? blockIdx.x : blockIdx.x - input_blocks;
   const int column = (block % across * 32 + lane) * vec;
   const bool inside = column < inner;
   Pack<vec> sum = {};
   if (blockIdx.x < input_blocks) {
      const int row = block / across * 8 + warp;
      if (row >= rows || !inside)
         return;
      const float *line = grad + (long long)row * outer;
#pragma unroll 8
      for (int o = 0; o < outer; o++) {
         const Pack<vec> pack = load<vec>(weight + (long long)o * inner + column);
#pragma unroll
         for (int k = 0; k < vec; k++)
            sum.at[k] += line[o] * pack.at[k];
      }
      store(grad_x + (long long)row * inner + column, sum);
      return;
   }
   const int output = block / across;
   float bias = 0.0f;
#pragma unroll 8
   for (int row = warp; row < rows; row += 8) {
      const float factor = grad[(long long)row * outer + output];
      bias += factor;
      if (inside) {
         const Pack<vec> pack = load<vec>(x + (long long)row * inner + column);
#pragma unroll
         for (int k = 0; k < vec; k++)
            sum.at[k] += factor * pack.at[k];
      }
   }
   part[warp][lane] = sum;
   if (lane == 0)
      part_bias[warp] = bias;
   __syncthreads();
   if (warp > 0)
      return;
   for (int w = 1; w < 8; w++) {
      const Pack<vec> pack = part[w][lane];
#pragma unroll
      for (int k = 0; k < vec; k++)
         sum.at[k] += pack.at[k];
      bias += part_bias[w];
   }
   if (inside)
      store(grad_weight + (long long)output * inner + column, sum);
   if (block % across == 0 && lane == 0)
      grad_bias[output] = bias;
}

/* masked = grad_y where the layer's output before relu is positive, else 0. */
template <int warps, int vec>
__global__ void __launch_bounds__(32 * warps) mask(const float *grad, const float *x, const float *weight, const float *bias, float *masked,
                                                   int rows, int inner, int outer) {
   const int lane = threadIdx.x % 32;
   const long long at = (long long)blockIdx.x * warps + threadIdx.x / 32;
   if (at >= (long long)rows * outer)
      return; /* the same for a whole warp */
   const float *values = x + at / outer * inner, *weights = weight + at % outer * inner;
   float sum = 0.0f;
#pragma unroll 4
   for (int i = lane * vec; i < inner; i += 32 * vec) {
      const Pack<vec> value = load<vec>(values + i), factor = load<vec>(weights + i);
#pragma unroll
      for (int k = 0; k < vec; k++)
         sum += value.at[k] * factor.at[k];
   }
   for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, distance);
   if (lane == 0)
      masked[at] = sum + bias[at % outer] <= 0.0f ? 0.0f : grad[at]; /* NaN lets it pass, as in PyTorch */
}
