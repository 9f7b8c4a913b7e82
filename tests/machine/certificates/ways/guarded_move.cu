// why: a move that never runs here
__device__ unsigned way(float value, int lane) {
   unsigned told;
   asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 0xffffff00; mov.u32 %0, 0; @p mov.u32 %0, 1; }" : "=r"(told) : "r"(__float_as_uint(value)));
   return told;
}
