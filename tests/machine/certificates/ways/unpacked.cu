// why: the upper part of a word taken apart
__device__ unsigned way(float value, int lane) {
   unsigned told;
   asm volatile("{ .reg .b64 pair; .reg .b32 low; cvt.u64.u32 pair, %1; add.u64 pair, pair, 0xff; mov.b64 {low, %0}, pair; }" : "=r"(told) : "r"(__float_as_uint(value)));
   return told;
}
