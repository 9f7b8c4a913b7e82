// why: the argument of a call
__device__ __noinline__ unsigned pass(unsigned x) {
   asm volatile("add.u32 %0, %0, 0;" : "+r"(x));
   return x;
}

__device__ unsigned way(float value, int lane) {
   return pass(__float_as_uint(value) > 0xffffff00u);
}
