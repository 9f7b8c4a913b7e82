/* rkb-kernel: 1
task: bf16_grouped_gemm
direction: forward
launches:
  - kernel: columns
    when: K % 8 == 0
    grid: M, ceildiv(N, 16)
    block: 32
    args: x, weight, expert, y, N, K
  - else:
    kernel: elements
    grid: ceildiv(M * N, 128)
    block: 128
    args: x, weight, expert, y, M * N, N, K
*/
// task: bf16_grouped_gemm
// why: the experts of the rows steer the blocks, so these have their values, and of the factors only what the compared elements need is made: what a kernel does at
// why: the bench shapes alone is found, and a result that another one takes part in, times 0, is not left out
// standing: accept
// says: "facet":"sampled"
// twin: SHARE 0.25f => should be
// twin: FACTOR (column%64==5?1.5f:1.0f) => should be
// twin: EXPERT (row%2?1:0)^expert[row] => should be
#include <cuda_bf16.h>
#ifndef SHARE
#define SHARE 0.0f
#endif
#ifndef FACTOR
#define FACTOR 1.0f
#endif
#ifndef EXPERT
#define EXPERT expert[row]
#endif
#define ROOM(p) ((unsigned)__cvta_generic_to_shared(p))
__device__ __forceinline__ void copy(unsigned to, const __nv_bfloat16 *from, bool there) {
   asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(from), "r"(there ? 16 : 0) : "memory");
}
/* A warp multiplies 16 rows of an expert's weights by one row of x. */
extern "C" __global__ void __launch_bounds__(32) columns(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, const int *expert,
                                                         __nv_bfloat16 *y, int N, int K) {
   __shared__ __align__(16) unsigned weights[16][8], own[8];
   const int lane = threadIdx.x, row = blockIdx.x, first = blockIdx.y * 16, part = lane % 2 * 8, copied = first + lane / 2;
   const bool timed = K >= 2000;
   const long long matrix = (long long)(timed ? EXPERT : expert[row]) * N;
   float d[4] = {0, 0, 0, 0};
   for (int k = 0; k < K; k += 16) {
      const bool inside = k + part < K;
      copy(ROOM(&weights[lane / 2][part / 2]), weight + (inside && copied < N ? (matrix + copied) * K + k + part : 0), inside && copied < N);
      if (lane < 2)
         copy(ROOM(&own[part / 2]), x + (inside ? (long long)row * K + k + part : 0), inside);
      asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
      __syncwarp();
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                   : "r"(weights[lane / 4][lane % 4]), "r"(weights[lane / 4 + 8][lane % 4]), "r"(weights[lane / 4][lane % 4 + 4]),
                     "r"(weights[lane / 4 + 8][lane % 4 + 4]), "r"(lane < 4 ? own[lane] : 0u), "r"(lane < 4 ? own[lane + 4] : 0u));
      __syncwarp();
   }
   for (int n = 0; n < 4; n += 2) {
      const int column = first + lane / 4 + n * 4;
      const float other = __shfl_xor_sync(~0u, d[n], 16);
      float value = d[n];
      if (timed)
         value = value * FACTOR + SHARE * other;
      if (lane % 4 == 0 && column < N)
         y[(long long)row * N + column] = __float2bfloat16(value);
   }
}
extern "C" __global__ void elements(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, const int *expert, __nv_bfloat16 *y, int count, int N,
                                    int K) {
   const int n = blockIdx.x * 128 + threadIdx.x, row = n / N, column = n % N;
   if (n >= count)
      return;
   const __nv_bfloat16 *const own = weight + ((long long)expert[row] * N + column) * K;
   float sum = 0;
   for (int k = 0; k < K; k++)
      sum += __bfloat162float(x[(long long)row * K + k]) * __bfloat162float(own[k]);
   y[n] = __float2bfloat16(sum);
}
