// why: a word taken apart, which never happens here
__device__ unsigned way(float value, int lane) {
   unsigned told;
   asm volatile("{ .reg .pred p; .reg .b64 pair; .reg .b32 high; setp.gt.u32 p, %1, 0xffffff00; mov.b64 pair, 0x100000001; mov.b32 high, 0; mov.b32 %0, 0; @p mov.b64 {%0, high}, pair; or.b32 %0, %0, high; }" : "=r"(told) : "r"(__float_as_uint(value)));
   return told;
}
