// why: a comparison of constants that never runs here, by the second predicate it would write
__device__ unsigned way(float value, int lane) {
   unsigned told;
   asm volatile("{ .reg .pred p, q, r; setp.gt.u32 p, %1, 0xffffff00; setp.eq.u32 q, 0, 0; setp.eq.u32 r, 0, 1; @p setp.eq.u32 q|r, 0, 1; selp.u32 %0, 1, 0, r; }" : "=r"(told) : "r"(__float_as_uint(value)));
   return told;
}
