/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: keys
    grid: N
    block: 96
    args: x, y, D
*/
/* The largest by atomicMax on integers that order as floats do. */
__device__ unsigned key_of(float v) {
   const unsigned bits = __float_as_uint(v);
   return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__global__ void keys(const float *x, float *y, int D) {
   __shared__ unsigned largest;
   __shared__ float total[3];
   const long long at = (long long)blockIdx.x * D;
   if (threadIdx.x == 0)
      largest = 0;
   __syncthreads();
   for (int i = threadIdx.x; i < D; i += 96)
      atomicMax(&largest, key_of(x[at + i]));
   __syncthreads();
   const float m = __uint_as_float(largest & 0x80000000u ? largest ^ 0x80000000u : ~largest);
   float s = 0;
   for (int i = threadIdx.x; i < D; i += 96)
      s += expf(x[at + i] - m);
   for (int d = 16; d > 0; d >>= 1)
      s += __shfl_xor_sync(0xffffffffu, s, d);
   if (threadIdx.x % 32 == 0)
      total[threadIdx.x / 32] = s;
   __syncthreads();
   s = total[0] + total[1] + total[2];
   for (int i = threadIdx.x; i < D; i += 96)
      y[at + i] = expf(x[at + i] - m) / s;
}
