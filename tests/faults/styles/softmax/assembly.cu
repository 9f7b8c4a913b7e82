/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: by_hand
    grid: N
    block: 32
    args: x, y, D
*/
/* Exponentials, loads and shuffles by inline PTX. */
__device__ float power_of_two(float v) {
   float r;
   asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
   return r;
}

__device__ float load(const float *p) {
   float v;
   asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(p));
   return v;
}

__device__ float swap(float v, int d) {
   float r;
   asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, -1;" : "=f"(r) : "f"(v), "r"(d));
   return r;
}

__global__ void by_hand(const float *x, float *y, int D) {
   const float log2e = 1.4426950408889634f;
   const float *in = x + (long long)blockIdx.x * D;
   float m = -__int_as_float(0x7f800000), s = 0;
   for (int i = threadIdx.x; i < D; i += 32)
      m = fmaxf(m, load(in + i));
   for (int d = 16; d; d >>= 1)
      m = fmaxf(m, swap(m, d));
   for (int i = threadIdx.x; i < D; i += 32)
      s += power_of_two((load(in + i) - m) * log2e);
   for (int d = 16; d; d >>= 1)
      s += swap(s, d);
   for (int i = threadIdx.x; i < D; i += 32)
      y[(long long)blockIdx.x * D + i] = __fdividef(power_of_two((load(in + i) - m) * log2e), s);
}
