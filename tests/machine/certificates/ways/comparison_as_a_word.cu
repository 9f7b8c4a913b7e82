// why: a comparison whose result is a word
__device__ unsigned way(float value, int lane) {
   unsigned told;
   asm volatile("{ set.gt.u32.u32 %0, %1, 0xffffff00; }" : "=r"(told) : "r"(__float_as_uint(value)));
   return told;
}
