// why: a predicate that a comparison of constants is combined with
__device__ unsigned way(float value, int lane) {
   unsigned told;
   asm volatile("{ .reg .pred p, q; setp.gt.u32 p, %1, 0xffffff00; setp.eq.or.u32 q, 0, 1, p; selp.u32 %0, 1, 0, q; }" : "=r"(told) : "r"(__float_as_uint(value)));
   return told;
}
