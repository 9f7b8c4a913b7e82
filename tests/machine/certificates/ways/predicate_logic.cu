// why: a predicate made of others
__device__ unsigned way(float value, int lane) {
   unsigned told;
   asm volatile("{ .reg .pred p, q; setp.gt.u32 p, %1, 0xffffff00; setp.eq.u32 q, 0, 0; and.pred q, q, p; not.pred q, q; not.pred q, q; selp.u32 %0, 1, 0, q; }" : "=r"(told) : "r"(__float_as_uint(value)));
   return told;
}
