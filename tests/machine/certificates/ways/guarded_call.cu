// why: whether a function is called
__device__ __noinline__ unsigned pass(unsigned x) {
   asm volatile("add.u32 %0, %0, 0;" : "+r"(x));
   return x;
}

__device__ unsigned way(float value, int lane) {
   if (__float_as_uint(value) > 0xffffff00u)
      return pass(1);
   return 0;
}
