// why: a product of doubles as mma.h of CUDA writes it, which names the rounding; the broken one reads the result before the warp has met
// buffer: a in f64 32 ramp
// buffer: b in f64 32 ramp
// buffer: y out f64 64
// launch: product grid=1 block=32 args=a,b,y
// expect: pass
// broken: reject race.shared
#include <mma.h>
using namespace nvcuda::wmma;
extern "C" __global__ void product(const double *a, const double *b, double *y) {
   __shared__ double room[64];
   fragment<matrix_a, 8, 8, 4, double, row_major> left;
   fragment<matrix_b, 8, 8, 4, double, col_major> right;
   fragment<accumulator, 8, 8, 4, double> sums;
   load_matrix_sync(left, a, 4);
   load_matrix_sync(right, b, 4);
   fill_fragment(sums, 0.0);
   mma_sync(sums, left, right, sums);
   store_matrix_sync(room, sums, 8, mem_row_major);
#ifndef BROKEN
   __syncwarp();
#endif
   for (int n = threadIdx.x; n < 64; n += 32) {
      double exact = 0;
      for (int k = 0; k < 4; k++)
         exact += a[n / 8 * 4 + k] * b[n % 8 * 4 + k];
      if (room[n] != exact)
         asm volatile("trap;");
      y[n] = room[n];
   }
}
