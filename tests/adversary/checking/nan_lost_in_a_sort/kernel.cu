/* rkb-kernel: 1
task: top_k
direction: forward
tune:
  THREADS: {default: 256, choices: [128, 256, 512]}
launches:
  - kernel: top<THREADS>
    grid: R
    block: THREADS
    args: x, values, places, V, k
*/

/* A block finds the elements of its row one after another: each is the largest of those that come after the one found before, in the
 * order of falling values and, among equals, of rising places.  So nothing has to be marked as taken.  NaN counts as larger than any
 * number, as in PyTorch. */

#include <math_constants.h>

/* Whether (a, i) comes before (b, j). */
__device__ bool before(float a, int i, float b, int j) {
   return a > b || (a == b && i < j);
}

template <int threads>
__global__ void __launch_bounds__(threads) top(const float *x, float *values, long long *places, int V, int k) {
   __shared__ float best[threads / 32];
   __shared__ int where[threads / 32];
   const float *row = x + (long long)blockIdx.x * V;
   float last = CUDART_NAN_F;
   int taken = -1; /* comes before every element */
   for (int turn = 0; turn < k; turn++) {
      float own = -CUDART_INF_F;
      int place = V; /* none */
      for (int i = threadIdx.x; i < V; i += threads)
         if (before(last, taken, row[i], i) && (place == V || before(row[i], i, own, place))) {
            own = row[i];
            place = i;
         }
      for (int away = 16; away > 0; away /= 2) {
         const float other = __shfl_xor_sync(0xffffffffu, own, away);
         const int there = __shfl_xor_sync(0xffffffffu, place, away);
         if (there < V && (place == V || before(other, there, own, place))) {
            own = other;
            place = there;
         }
      }
      __syncthreads();
      if (threadIdx.x % 32 == 0) {
         best[threadIdx.x / 32] = own;
         where[threadIdx.x / 32] = place;
      }
      __syncthreads();
      own = best[0];
      place = where[0];
      for (int i = 1; i < threads / 32; i++)
         if (where[i] < V && (place == V || before(best[i], where[i], own, place))) {
            own = best[i];
            place = where[i];
         }
      last = own;
      taken = place;
      if (threadIdx.x == 0) {
         values[(long long)blockIdx.x * k + turn] = own;
         places[(long long)blockIdx.x * k + turn] = place;
      }
   }
}
