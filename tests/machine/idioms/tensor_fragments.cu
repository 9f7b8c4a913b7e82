// why: fragments of wmma are opaque, but what they are loaded from, multiplied and stored to is not; a leading dimension too large
// why: reads past the end
// buffer: a in f16 512 ramp
// buffer: b in f16 512 ramp
// buffer: y out f32 256
// launch: tile grid=1 block=32 args=a,b,y
// expect: pass
// broken: reject memory.out_of_bounds
#include <mma.h>
using namespace nvcuda;
#ifndef BROKEN
#define STRIDE 32
#else
#define STRIDE 40
#endif
extern "C" __global__ void tile(const half *a, const half *b, float *y) {
   wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
   wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
   wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
   wmma::fill_fragment(sum, 0.0f);
   for (int k = 0; k < 32; k += 16) {
      wmma::load_matrix_sync(fa, a + k, STRIDE);
      wmma::load_matrix_sync(fb, b + k, 32);
      wmma::mma_sync(sum, fa, fb, sum);
   }
   for (int n = 0; n < sum.num_elements; n++)
      sum.x[n] *= 0.5f;
   wmma::store_matrix_sync(y, sum, 16, wmma::mem_row_major);
   __syncthreads();
   for (int n = threadIdx.x; n < 256; n += 32) {
      float want = 0;
      for (int k = 0; k < 32; k++)
         want += __half2float(a[n / 16 * 32 + k]) * __half2float(b[n % 16 * 32 + k]);
      if (y[n] != 0.5f * want)
         __trap();
   }
}
