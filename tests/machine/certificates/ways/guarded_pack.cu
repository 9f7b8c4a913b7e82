// why: a word packed of parts, which never happens here
__device__ unsigned way(float value, int lane) {
   unsigned told;
   asm volatile("{ .reg .pred p; .reg .b64 pair; .reg .b32 one; setp.gt.u32 p, %1, 0xffffff00; mov.b32 one, 1; mov.b64 pair, 0; @p mov.b64 pair, {one, one}; cvt.u32.u64 %0, pair; }" : "=r"(told) : "r"(__float_as_uint(value)));
   return told;
}
