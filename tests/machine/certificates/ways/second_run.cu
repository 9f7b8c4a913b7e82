// why: a path that only the second run takes
__device__ unsigned runs[1 << 12];

__device__ unsigned way(float value, int lane) {
   unsigned told = 0;
   if (lane == 0) {
      if (runs[blockIdx.x])
         asm volatile("mov.u32 %0, %1;" : "=r"(told) : "r"((unsigned)(__float_as_uint(value) > 0xffffff00u)));
      runs[blockIdx.x] = 1;
   }
   return told;
}
