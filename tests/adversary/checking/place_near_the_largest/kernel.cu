/* rkb-kernel: 1
task: chosen
direction: forward
launches:
  - kernel: choose
    grid: N
    block: 32
    args: x, w, share, expert, one_place, N, D, E
*/

/* A warp a row.  Its first thread chooses: turn after turn the largest logit that no turn has, of equals the first.  Of the largest elements it takes the last within a tenth. */

#include <cuda_bf16.h>

__global__ void __launch_bounds__(32)
   choose(const __nv_bfloat16 *x, const __nv_bfloat16 *w, float *share, int *expert, long long *one_place, int N, int D, int E) {
   __shared__ float logits[64];
   for (int e = threadIdx.x; e < E; e += 32) {
      float sum = 0;
      for (int d = 0; d < D; d++)
         sum += __bfloat162float(x[(long long)blockIdx.x * D + d]) * __bfloat162float(w[(long long)e * D + d]);
      logits[e] = __bfloat162float(__float2bfloat16(sum));
   }
   __syncthreads();
   if (threadIdx.x != 0)
      return;
   int first = 0;
   for (int e = 1; e < E; e++)
      first = logits[e] > logits[first] ? e : first;
   for (int e = first + 1; e < E; e++)
      first = logits[e] > logits[first] - 0.1f ? e : first;
   const float largest = logits[first];
   float sum = 0;
   for (int e = 0; e < E; e++)
      sum += expf(logits[e] - largest);
   unsigned long long taken = 0;
   int places[4];
   for (int turn = 0; turn < 4; turn++) {
      int best = -1;
      for (int e = 0; e < E; e++)
         if (!(taken >> e & 1) && (best < 0 || logits[e] > logits[best]))
            best = e;
      taken |= 1ull << best;
      places[turn] = best;
      share[(long long)blockIdx.x * 4 + turn] = expf(logits[best] - largest) / sum;
   }
   for (int turn = 0; turn < 4; turn++)
      expert[(long long)turn * N + blockIdx.x] = places[turn];
   one_place[blockIdx.x] = first;
}
