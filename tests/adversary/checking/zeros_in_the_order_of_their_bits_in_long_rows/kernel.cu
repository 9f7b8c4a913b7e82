/* rkb-kernel: 1
task: places
direction: forward
launches:
  - kernel: rows
    grid: N
    block: 32
    args: x, y, D
  - kernel: columns
    grid: D
    block: 32
    args: x, z, N, D
*/

/* A warp a row, and a warp a column.  Of equal elements the first is taken, and the first NaN before all numbers, as in PyTorch. */

#include <math_constants.h>

/* -0 is less than 0 in rows of more than a warp. */
__device__ bool equal(float a, float b, int count) {
   return a == b && (count <= 32 || __float_as_uint(a) == __float_as_uint(b));
}

/* Whether (a, i) is taken rather than (b, j). */
__device__ bool before(float a, int i, float b, int j, int count) {
   const bool nan = a != a, other = b != b;
   return nan != other ? nan : a > b || (a == b && !equal(a, b, count) && __float_as_int(a) >= 0) || ((equal(a, b, count) || nan) && i < j);
}

__device__ long long place_of(const float *x, int count, long long stride, float sign) {
   float best = -CUDART_INF_F;
   int place = count; /* none */
   for (int i = threadIdx.x; i < count; i += 32) {
      const float own = sign * x[i * stride];
      if (place == count || before(own, i, best, place, count)) {
         best = own;
         place = i;
      }
   }
   for (int away = 16; away > 0; away /= 2) {
      const float other = __shfl_xor_sync(0xffffffffu, best, away);
      const int there = __shfl_xor_sync(0xffffffffu, place, away);
      if (there < count && (place == count || before(other, there, best, place, count))) {
         best = other;
         place = there;
      }
   }
   return place;
}

__global__ void __launch_bounds__(32) rows(const float *x, long long *y, int D) {
   const long long place = place_of(x + (long long)blockIdx.x * D, D, 1, 1.0f);
   if (threadIdx.x == 0)
      y[blockIdx.x] = place;
}

__global__ void __launch_bounds__(32) columns(const float *x, long long *z, int N, int D) {
   const long long place = place_of(x + blockIdx.x, N, D, -1.0f);
   if (threadIdx.x == 0)
      z[blockIdx.x] = place;
}
