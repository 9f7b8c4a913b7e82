/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: wide
    grid: N
    block: 128
    args: x, y, D
*/
/* Sums in double precision. */
__global__ void wide(const float *x, float *y, int D) {
   __shared__ double part[128];
   x += (long long)blockIdx.x * D, y += (long long)blockIdx.x * D;
   const int t = threadIdx.x;
   double m = -1e300, s = 0;
   for (int i = t; i < D; i += 128)
      m = x[i] > m ? (double)x[i] : m;
   part[t] = m;
   __syncthreads();
   for (int half = 64; half; half >>= 1) {
      if (t < half)
         part[t] = fmax(part[t], part[t + half]);
      __syncthreads();
   }
   m = part[0];
   __syncthreads();
   for (int i = t; i < D; i += 128)
      s += exp((double)x[i] - m);
   part[t] = s;
   __syncthreads();
   for (int half = 64; half; half >>= 1) {
      if (t < half)
         part[t] += part[t + half];
      __syncthreads();
   }
   for (int i = t; i < D; i += 128)
      y[i] = (float)(exp((double)x[i] - m) / part[0]);
}
