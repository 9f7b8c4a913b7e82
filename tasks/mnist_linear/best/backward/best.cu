/* rkb-kernel: 1
task: mnist_linear
direction: backward
tune:
  LINES: {default: 64, choices: [8, 16, 32, 64]}
let:
  rows: N
  slices: ceildiv(O, LINES)
scratch:
  partial: {dtype: float32, shape: "slices, min(rows, 4), I"}
launches:
  - kernel: few_rows<4, LINES, 4>
    when: rows <= 4 and I % 4 == 0
    grid: ceildiv(I, 512), slices
    block: 128
    args: grad_y, x, weight, partial, grad_weight, grad_bias, rows, I, O
  - else:
    kernel: few_rows<4, LINES, 1>
    when: rows <= 4
    grid: ceildiv(I, 128), slices
    block: 128
    args: grad_y, x, weight, partial, grad_weight, grad_bias, rows, I, O
  - else:
    kernel: gradients<4>
    when: I % 4 == 0
    grid: ceildiv(I, 128) * (ceildiv(rows, 8) + O)
    block: 256
    args: grad_y, x, weight, grad_x, grad_weight, grad_bias, rows, I, O, ceildiv(I, 128) * ceildiv(rows, 8)
  - else:
    kernel: gradients<1>
    grid: ceildiv(I, 32) * (ceildiv(rows, 8) + O)
    block: 256
    args: grad_y, x, weight, grad_x, grad_weight, grad_bias, rows, I, O, ceildiv(I, 32) * ceildiv(rows, 8)
  - kernel: sum_slices
    when: rows <= 4
    grid: ceildiv(rows * I, 32)
    block: 256
    args: partial, grad_x, rows * I, slices
*/

/* With g = grad_y:  grad_x = g * weight, grad_weight = g' * x, grad_bias = column sums of g.  For two sizes at which tiles of a product do
 * badly: up to four rows go in one launch through the weight, and a second one adds up grad_x; small layers take
 * one launch, straight from the definition, whose blocks divide the three gradients among them. */

template <int count> struct alignas(4 * count) Pack {
   float at[count];
};
template <int vec> __device__ Pack<vec> load(const float *from) { return *reinterpret_cast<const Pack<vec> *>(from); }
template <int vec> __device__ void store(float *to, const Pack<vec> &pack) { *reinterpret_cast<Pack<vec> *>(to) = pack; }

/* All gradients at once.  The first input_blocks blocks take 8 rows of grad_x each, a warp a row; every other block takes 32 vectors of one
 * row of grad_weight, whose sum over the rows of x its 8 warps share, and the first such block of an output its bias. */
template <int vec>
__global__ void __launch_bounds__(256, 3) gradients(const float *grad, const float *x, const float *weight, float *grad_x, float *grad_weight,
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

/* At most row_count rows: one way through the weight.  A block takes `lines` outputs; where a lane has a row of the weight in its hands, it adds
 * that row's share of grad_x to its sums and writes the row of grad_weight, so both large matrices travel once. */
template <int row_count, int lines, int vec>
__global__ void __launch_bounds__(128) few_rows(const float *grad, const float *x, const float *weight, float *partial, float *grad_weight,
                                                float *grad_bias, int rows, int inner, int outer) {
   __shared__ float factor[lines][row_count];
   const int first = blockIdx.y * lines, count = min(lines, outer - first), column = (blockIdx.x * 128 + threadIdx.x) * vec;
   for (int i = threadIdx.x; i < lines * row_count; i += 128)
      factor[i / row_count][i % row_count] =
         i % row_count < rows && i / row_count < count ? grad[(long long)(i % row_count) * outer + first + i / row_count] : 0.0f;
   __syncthreads();
   if (blockIdx.x == 0)
      for (int i = threadIdx.x; i < count; i += 128) {
         float sum = 0.0f;
#pragma unroll
         for (int r = 0; r < row_count; r++)
            sum += factor[i][r];
         grad_bias[first + i] = sum;
      }
   if (column >= inner)
      return;
   Pack<vec> values[row_count] = {}, sum[row_count] = {};
#pragma unroll
   for (int r = 0; r < row_count; r++)
      if (r < rows)
         values[r] = load<vec>(x + (long long)r * inner + column);
   const float *from = weight + (long long)first * inner + column;
   float *to = grad_weight + (long long)first * inner + column;
#pragma unroll 8
   for (int i = 0; i < count; i++) {
      const Pack<vec> pack = load<vec>(from + (long long)i * inner);
      Pack<vec> product = {};
#pragma unroll
      for (int r = 0; r < row_count; r++)
#pragma unroll
         for (int k = 0; k < vec; k++) {
            sum[r].at[k] += factor[i][r] * pack.at[k];
            product.at[k] += factor[i][r] * values[r].at[k];
         }
      store(to + (long long)i * inner, product);
   }
#pragma unroll
   for (int r = 0; r < row_count; r++)
      if (r < rows)
         store(partial + ((long long)blockIdx.y * rows + r) * inner + column, sum[r]);
}

/* out[i] = sum of the slices' element i: 32 elements a block, 8 warps share the slices; the same result at every run. */
__global__ void __launch_bounds__(256) sum_slices(const float *slices, float *out, int count, int slice_count) {
   __shared__ float part[8][32];
   const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 32 + lane;
   float sum = 0.0f;
   if (i < count)
#pragma unroll 8
      for (int slice = warp; slice < slice_count; slice += 8)
         sum += slices[(long long)slice * count + i];
   part[warp][lane] = sum;
   __syncthreads();
   if (warp == 0 && i < count) {
      for (int w = 1; w < 8; w++)
         sum += part[w][lane];
      out[i] = sum;
   }
}
