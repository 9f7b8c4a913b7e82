// why: how many bits are inserted
__device__ unsigned way(float value, int lane) {
   unsigned told;
   asm volatile("{ .reg .pred p; .reg .b32 count; setp.gt.u32 p, %1, 0xffffff00; selp.b32 count, 1, 0, p; bfi.b32 %0, 1, 0, 0, count; }" : "=r"(told) : "r"(__float_as_uint(value)));
   return told;
}
