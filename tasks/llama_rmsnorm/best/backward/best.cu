/* rkb-kernel: 1
task: llama_rmsnorm
direction: backward
tune:
  BLOCK: {default: 256, choices: [256, 512, 1024]}
  SLICES: {default: 264, choices: [132, 264, 528]}
let:
  rows: B * T
  slices: min(SLICES, rows)
scratch:
  partial: {dtype: float32, shape: "slices, D"}
launches:
  - kernel: grad_rows<BLOCK, 1>
    when: D % 4 == 0 and D <= 4 * BLOCK
    grid: slices
    block: BLOCK
    args: grad_y, x, weight, grad_x, partial, eps, rows, D
  - else:
    kernel: grad_rows<BLOCK, 2>
    when: D % 4 == 0 and D <= 8 * BLOCK
    grid: slices
    block: BLOCK
    args: grad_y, x, weight, grad_x, partial, eps, rows, D
  - else:
    kernel: grad_rows<BLOCK, 4>
    when: D % 4 == 0 and D <= 16 * BLOCK
    grid: slices
    block: BLOCK
    args: grad_y, x, weight, grad_x, partial, eps, rows, D
  - else:
    kernel: grad_rows_apart<BLOCK>
    grid: slices
    block: BLOCK
    args: grad_y, x, weight, grad_x, partial, eps, rows, D
  - kernel: sum_slices
    grid: ceildiv(D, 32)
    block: 256
    args: partial, grad_weight, D, slices
*/

/* With r = 1 / sqrt(mean(x^2) + eps):  grad_x = r * (grad_y * weight - x * r^2 * mean(grad_y * weight * x)),
 * grad_weight = sum over rows of grad_y * x * r.  A block takes every so many rows; a thread keeps its columns of the row, of the weight and of the
 * block's share of grad_weight in registers, so that everything travels once, and the next row is on its way while this
 * one is summed.  A last launch adds the shares, in an order that is the same at every run. */

/* Two sums over the block at once, for every thread.  Calls take turns with two sets of numbers, so that one barrier each will do. */
template <int block> __device__ float2 block_sums(float first, float second, int turn) {
   __shared__ float2 of_warp[2][block / 32];
   for (int distance = 16; distance > 0; distance /= 2) {
      first += __shfl_xor_sync(0xffffffffu, first, distance);
      second += __shfl_xor_sync(0xffffffffu, second, distance);
   }
   if (threadIdx.x % 32 == 0)
      of_warp[turn][threadIdx.x / 32] = make_float2(first, second);
   __syncthreads();
   float2 total = of_warp[turn][0];
#pragma unroll
   for (int warp = 1; warp < block / 32; warp++) {
      total.x += of_warp[turn][warp].x;
      total.y += of_warp[turn][warp].y;
   }
   return total;
}

template <int count> struct Columns {
   float4 at[count];
};

/* This thread's columns of a row, zero beyond D. */
template <int block, int each> __device__ Columns<each> load(const float *row, int D) {
   Columns<each> columns;
#pragma unroll
   for (int i = 0; i < each; i++)
      columns.at[i] = ((int)threadIdx.x + i * block) * 4 < D ? ((const float4 *)row)[threadIdx.x + i * block] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
   return columns;
}
template <int block, int each> __device__ void store(float *row, const Columns<each> &columns, int D) {
#pragma unroll
   for (int i = 0; i < each; i++)
      if (((int)threadIdx.x + i * block) * 4 < D)
         ((float4 *)row)[threadIdx.x + i * block] = columns.at[i];
}

__device__ float dot(float4 a, float4 b) {
   return a.x * b.x + a.y * b.y + (a.z * b.z + a.w * b.w);
}

template <int block, int each>
__global__ void __launch_bounds__(block, each < 4 || block > 512 ? 1024 / block : 512 / block)
   grad_rows(const float *__restrict__ grad_y, const float *__restrict__ x, const float *__restrict__ weight, float *__restrict__ grad_x, float *__restrict__ partial, float eps, int rows, int D) {
   const Columns<each> factor = load<block, each>(weight, D);
   Columns<each> sum = {}, grad = load<block, each>(grad_y + (long long)blockIdx.x * D, D),
                 value = load<block, each>(x + (long long)blockIdx.x * D, D);
   int turn = 0;
   for (int row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1) {
      const int next = min(row + (int)gridDim.x, rows - 1);
      const Columns<each> next_grad = load<block, each>(grad_y + (long long)next * D, D),
                          next_value = load<block, each>(x + (long long)next * D, D);
      float squares = 0.0f, products = 0.0f;
      Columns<each> product, result;
#pragma unroll
      for (int i = 0; i < each; i++) {
         const float4 g = grad.at[i], v = value.at[i], f = factor.at[i];
         product.at[i] = make_float4(g.x * f.x, g.y * f.y, g.z * f.z, g.w * f.w);
         squares += dot(v, v);
         products += dot(product.at[i], v);
      }
      const float2 sums = block_sums<block>(squares, products, turn);
      const float r = rsqrtf(sums.x / D + eps), pull = sums.y / D * r * r;
#pragma unroll
      for (int i = 0; i < each; i++) {
         const float4 g = grad.at[i], v = value.at[i], p = product.at[i];
         result.at[i] = make_float4(r * (p.x - v.x * pull), r * (p.y - v.y * pull), r * (p.z - v.z * pull), r * (p.w - v.w * pull));
         sum.at[i].x += g.x * v.x * r;
         sum.at[i].y += g.y * v.y * r;
         sum.at[i].z += g.z * v.z * r;
         sum.at[i].w += g.w * v.w * r;
      }
      store<block, each>(grad_x + (long long)row * D, result, D);
      grad = next_grad;
      value = next_value;
   }
   store<block, each>(partial + (long long)blockIdx.x * D, sum, D);
}

/* The same for rows of any length, a number at a time: each row is read twice, and the share of grad_weight grows in memory. */
template <int block>
__global__ void __launch_bounds__(block) grad_rows_apart(const float *grad_y, const float *x, const float *weight, float *grad_x,
                                                         float *partial, float eps, int rows, int D) {
   float *share = partial + (long long)blockIdx.x * D;
   int turn = 0;
   for (int row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1) {
      const float *grad = grad_y + (long long)row * D, *value = x + (long long)row * D;
      float squares = 0.0f, products = 0.0f;
      for (int i = threadIdx.x; i < D; i += block) {
         squares += value[i] * value[i];
         products += grad[i] * weight[i] * value[i];
      }
      const float2 sums = block_sums<block>(squares, products, turn);
      const float r = rsqrtf(sums.x / D + eps), pull = sums.y / D * r * r;
      for (int i = threadIdx.x; i < D; i += block) {
         grad_x[(long long)row * D + i] = r * (grad[i] * __ldg(&weight[i]) - value[i] * pull);
         share[i] = (row == blockIdx.x ? 0.0f : share[i]) + grad[i] * value[i] * r;
      }
   }
}

/* out[i] = sum of the slices' element i: 32 elements a block, 8 warps share the slices. */
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
