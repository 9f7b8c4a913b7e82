// why: which of two constants is selected
__device__ unsigned way(float value, int lane) {
   unsigned told;
   asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 0xffffff00; selp.u32 %0, 1, 0, p; }" : "=r"(told) : "r"(__float_as_uint(value)));
   return told;
}
