/* rkb-kernel: 1
task: bf16_linear_residual
direction: forward
tune:
  TILE_N: {default: 64, choices: [32, 64]}
launches:
  - kernel: linear<TILE_N>
    grid: ceildiv(N, TILE_N), ceildiv(M, 64)
    block: 128
    args: x, weight, bias, residual, y, M, N, K
*/

/* Each block computes 64 rows by TILE_N columns.  While it multiplies one pair of tiles, the next pair is on its way (cp.async), where
 * rows of K elements keep 16 bytes together; otherwise threads copy element by element.  Four warps take 16 rows each and multiply with
 * mma.m16n8k16, whose factors ldmatrix brings.  The bias, then the residual, are added to the fp32 sums, which are rounded once. */

#include <cuda_bf16.h>

constexpr int tile_m = 64, depth = 32, pitch = depth + 8;

__device__ unsigned shared_address(const void *at) {
   return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

template <int rows>
__device__ void fetch(const __nv_bfloat16 *from, __nv_bfloat16 *to, int row, int row_end, int k, int K) {
   if (K % 8 == 0) {
      for (int i = threadIdx.x; i < rows * depth / 8; i += 128) {
         const int r = i / (depth / 8), c = i % (depth / 8) * 8;
         const bool inside = row + r < row_end && k + c < K;
         const __nv_bfloat16 *source = inside ? from + (long long)(row + r) * K + k + c : from;
         asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to + r * pitch + c)), "l"(source),
                      "r"(inside ? 16 : 0)
                      : "memory");
      }
   } else {
      for (int i = threadIdx.x; i < rows * depth; i += 128) {
         const int r = i / depth, c = i % depth;
         to[r * pitch + c] = row + r < row_end && k + c < K ? from[(long long)(row + r) * K + k + c] : __float2bfloat16(0.0f);
      }
   }
   asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int tile_n>
__global__ void __launch_bounds__(128)
   linear(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, const __nv_bfloat16 *bias, const __nv_bfloat16 *residual,
          __nv_bfloat16 *y, int M, int N, int K) {
   __shared__ alignas(16) __nv_bfloat16 left[2][tile_m * pitch], right[2][tile_n * pitch];
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.y * tile_m, column = blockIdx.x * tile_n;
   float sums[tile_n / 8][4] = {};
   fetch<tile_m>(x, left[0], row, M, 0, K);
   fetch<tile_n>(weight, right[0], column, N, 0, K);
   for (int k = 0, stage = 0; k < K; k += depth, stage ^= 1) {
      if (k + depth < K) {
         fetch<tile_m>(x, left[stage ^ 1], row, M, k + depth, K);
         fetch<tile_n>(weight, right[stage ^ 1], column, N, k + depth, K);
         asm volatile("cp.async.wait_group 2;" ::: "memory");
      } else {
         asm volatile("cp.async.wait_group 0;" ::: "memory");
      }
      __syncthreads();
      for (int part = 0; part < depth; part += 16) {
         unsigned a[4];
         asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                      : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                      : "r"(shared_address(&left[stage][(warp * 16 + lane % 16) * pitch + part + lane / 16 * 8])));
         for (int j = 0; j < tile_n / 8; j++) {
            unsigned b[2];
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                         : "=r"(b[0]), "=r"(b[1])
                         : "r"(shared_address(&right[stage][(j * 8 + lane % 8) * pitch + part + lane / 8 % 2 * 8])));
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                         "{%0, %1, %2, %3};"
                         : "+f"(sums[j][0]), "+f"(sums[j][1]), "+f"(sums[j][2]), "+f"(sums[j][3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
         }
      }
      __syncthreads();
   }
   for (int j = 0; j < tile_n / 8; j++)
      for (int e = 0; e < 4; e++) {
         const int r = row + warp * 16 + lane / 4 + e / 2 * 8, c = column + j * 8 + lane % 4 * 2 + e % 2;
         if (r < M && c < N) {
            const long long place = (long long)r * N + c;
            y[place] = __float2bfloat16(sums[j][e] + __bfloat162float(bias[c]) + __bfloat162float(residual[place]));
         }
      }
}
