// why: a part of a word packed of parts
__device__ unsigned way(float value, int lane) {
   unsigned told;
   asm volatile("{ .reg .pred p; .reg .b32 x; .reg .b64 pair; setp.gt.u32 p, %1, 0xffffff00; selp.b32 x, 1, 0, p; mov.b64 pair, {x, x}; shr.u64 pair, pair, 32; cvt.u32.u64 %0, pair; }" : "=r"(told) : "r"(__float_as_uint(value)));
   return told;
}
