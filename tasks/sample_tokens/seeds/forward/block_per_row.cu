/* rkb-kernel: 1
task: sample_tokens
direction: forward
tune:
  THREADS: {default: 256, choices: [128, 256, 512]}
launches:
  - kernel: sample<THREADS>
    grid: R
    block: THREADS
    args: logits, uniform, token, V, temperature
*/

/* A block owns a row, and each thread a run of neighbours in it.  The block finds the largest logit, then each thread the sum of its run's
 * exponentials; the sums before a run say in which run the wanted share of the whole lies.  That run's thread walks to the token.  The
 * shares are compared before they are divided by their sum. */

#include <math_constants.h>

template <int threads>
__global__ void __launch_bounds__(threads)
   sample(const float *logits, const float *uniform, long long *token, int V, float temperature) {
   __shared__ float of_thread[threads];
   const int own = threadIdx.x, each = (V + threads - 1) / threads, first = own * each, end = min(first + each, V);
   const float *row = logits + (long long)blockIdx.x * V;
   float largest = -CUDART_INF_F;
   for (int i = first; i < end; i++)
      largest = fmaxf(largest, row[i] / temperature);
   of_thread[own] = largest;
   __syncthreads();
   for (int half = threads / 2; half > 0; half /= 2) {
      if (own < half)
         of_thread[own] = fmaxf(of_thread[own], of_thread[own + half]);
      __syncthreads();
   }
   largest = of_thread[0];
   __syncthreads();
   float sum = 0.0f;
   for (int i = first; i < end; i++)
      sum += expf(row[i] / temperature - largest);
   of_thread[own] = sum;
   __syncthreads();
   for (int away = 1; away < threads; away *= 2) { /* running sums */
      const float before = own >= away ? of_thread[own - away] : 0.0f;
      __syncthreads();
      of_thread[own] += before;
      __syncthreads();
   }
   const float wanted = uniform[blockIdx.x] * of_thread[threads - 1];
   float reached = own > 0 ? of_thread[own - 1] : 0.0f;
   if (own == 0)
      token[blockIdx.x] = V - 1;
   __syncthreads();
   if (first < V && reached <= wanted && wanted < of_thread[own]) {
      int i = first;
      while (i < end - 1) {
         reached += expf(row[i] / temperature - largest);
         if (reached > wanted)
            break;
         i++;
      }
      token[blockIdx.x] = i;
   }
}
