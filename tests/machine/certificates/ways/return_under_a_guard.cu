// why: where a call returns
__device__ __noinline__ unsigned leave(unsigned x) {
   unsigned told = 0;
   if (x > 0xffffff00u)
      return 1;
   asm volatile("add.u32 %0, %0, 0;" : "+r"(told));
   return told;
}

__device__ unsigned way(float value, int lane) {
   return leave(__float_as_uint(value));
}
