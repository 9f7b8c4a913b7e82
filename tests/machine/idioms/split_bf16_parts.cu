// why: a product of float32 by three products of bfloat16 with wmma, whose parts lie in shared memory; the broken twin leaves out the low parts of
// why: the second factor
// buffer: a in f32 512 noise
// buffer: b in f32 512 noise
// buffer: y out f32 256
// launch: product grid=1 block=32 args=a,b,y
// expect: pass
// broken: reject plan.trap
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;
#define K 32
__device__ __forceinline__ void split(float x, __nv_bfloat16 &high, __nv_bfloat16 &low) {
   high = __float2bfloat16(x);
   low = __float2bfloat16(x - __bfloat162float(high));
}
extern "C" __global__ void product(const float *a, const float *b, float *y) {
   __shared__ __align__(32) __nv_bfloat16 sa[16 * K], sa_low[16 * K], sb[16 * K], sb_low[16 * K];
   __shared__ __align__(32) float sums[256];
   for (int n = threadIdx.x; n < 16 * K; n += 32) {
      split(a[n], sa[n], sa_low[n]);
      split(b[n], sb[n], sb_low[n]);
   }
   __syncwarp();
   wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left, left_low;
   wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> right, right_low;
   wmma::fragment<wmma::accumulator, 16, 16, 16, float> d;
   wmma::fill_fragment(d, 0.0f);
   for (int k = 0; k < K; k += 16) {
      wmma::load_matrix_sync(left, sa + k, K);
      wmma::load_matrix_sync(left_low, sa_low + k, K);
      wmma::load_matrix_sync(right, sb + k, K);
      wmma::load_matrix_sync(right_low, sb_low + k, K);
      wmma::mma_sync(d, left_low, right, d);
#ifndef BROKEN
      wmma::mma_sync(d, left, right_low, d);
#endif
      wmma::mma_sync(d, left, right, d);
   }
   wmma::store_matrix_sync(sums, d, 16, wmma::mem_row_major);
   __syncwarp();
   for (int n = threadIdx.x; n < 256; n += 32) {
      float sum = 0, size = 0;
      for (int k = 0; k < K; k++) {
         const float term = a[n / 16 * K + k] * b[n % 16 * K + k];
         sum += term;
         size += fabsf(term);
      }
      if (fabsf(sum - sums[n]) > 4e-5f * size)
         __trap();
      y[n] = sums[n];
   }
}
