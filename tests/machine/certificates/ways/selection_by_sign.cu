// why: which of two constants is selected by the sign of a number
__device__ unsigned way(float value, int lane) {
   unsigned told;
   asm volatile("{ .reg .s32 x; min.u32 x, %1, 0xffffff00; sub.u32 x, x, %1; slct.u32.s32 %0, 0, 1, x; }" : "=r"(told) : "r"(__float_as_uint(value)));
   return told;
}
