// why: how often a loop turns
__device__ unsigned way(float value, int lane) {
   unsigned turns = 0;
   for (unsigned bits = __float_as_uint(value); bits > 0xffffff00u; bits--)
      asm volatile("add.u32 %0, %0, 1;" : "+r"(turns));
   return turns;
}
