/* rkb-kernel: 1
task: mnist_linear_relu
direction: forward
tune:
  WARPS: {default: 4, choices: [1, 2, 4, 8]}
  ROWS: {default: 4, choices: [2, 4, 8]}
  COLUMNS: {default: 4, choices: [1, 2, 4, 8]}
let:
  rows: N
launches:
  - kernel: linear<WARPS, ROWS, COLUMNS, 4>
    when: I % 4 == 0
    grid: ceildiv(O, COLUMNS), ceildiv(rows, ROWS)
    block: 32 * WARPS
    args: x, weight, bias, y, rows, I, O
  - else:
    kernel: linear<WARPS, ROWS, COLUMNS, 1>
    grid: ceildiv(O, COLUMNS), ceildiv(rows, ROWS)
    block: 32 * WARPS
    args: x, weight, bias, y, rows, I, O
*/

/* y = relu(x * weight' + bias) for few rows, where the weight's way from memory is the limit: a block takes COLUMNS outputs for ROWS rows, its
 * warps share the dot products, and every lane fetches the vectors of all its outputs and rows before it multiplies any, so
 * that many are on their way at once.  Each number fetched serves ROWS or COLUMNS products. */

template <int count> struct alignas(4 * count) Pack {
   float at[count];
};

template <int warps, int row_count, int column_count, int vec>
__global__ void __launch_bounds__(32 * warps, 4)
   linear(const float *x, const float *weight, const float *bias, float *y, int rows, int inner, int outer) {
   __shared__ float part[warps][row_count * column_count];
   const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
   const int first_column = blockIdx.x * column_count, first_row = blockIdx.y * row_count;
   const float *lines[column_count], *inputs[row_count]; /* of what lies outside, the last one's, whose result is dropped */
#pragma unroll
   for (int c = 0; c < column_count; c++)
      lines[c] = weight + (long long)min(first_column + c, outer - 1) * inner;
#pragma unroll
   for (int r = 0; r < row_count; r++)
      inputs[r] = x + (long long)min(first_row + r, rows - 1) * inner;

   float sum[row_count][column_count] = {};
#pragma unroll 2
   for (int i = threadIdx.x * vec; i < inner; i += 32 * warps * vec) {
      Pack<vec> weights[column_count], values[row_count];
#pragma unroll
      for (int c = 0; c < column_count; c++)
         weights[c] = *reinterpret_cast<const Pack<vec> *>(lines[c] + i);
#pragma unroll
      for (int r = 0; r < row_count; r++)
         values[r] = *reinterpret_cast<const Pack<vec> *>(inputs[r] + i);
#pragma unroll
      for (int r = 0; r < row_count; r++)
#pragma unroll
         for (int c = 0; c < column_count; c++)
#pragma unroll
            for (int k = 0; k < vec; k++)
               sum[r][c] += values[r].at[k] * weights[c].at[k];
   }

#pragma unroll
   for (int r = 0; r < row_count; r++)
#pragma unroll
      for (int c = 0; c < column_count; c++) {
         float value = sum[r][c];
         for (int distance = 16; distance > 0; distance /= 2)
            value += __shfl_xor_sync(0xffffffffu, value, distance);
         if (lane == 0)
            part[warp][r * column_count + c] = value;
      }
   __syncthreads();
   for (int i = threadIdx.x; i < row_count * column_count; i += 32 * warps) {
      const int row = first_row + i / column_count, column = first_column + i % column_count;
      if (row >= rows || column >= outer)
         continue;
      float value = bias[column];
      for (int w = 0; w < warps; w++)
         value += part[w][i];
      y[(long long)row * outer + column] = value <= 0.0f ? 0.0f : value; /* NaN stays NaN, as in PyTorch */
   }
}
