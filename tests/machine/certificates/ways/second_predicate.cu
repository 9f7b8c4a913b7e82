// why: the complement that a comparison writes beside its result
__device__ unsigned way(float value, int lane) {
   unsigned told;
   asm volatile("{ .reg .pred p, q; setp.le.u32 p|q, %1, 0xffffff00; selp.u32 %0, 1, 0, q; }" : "=r"(told) : "r"(__float_as_uint(value)));
   return told;
}
