// why: where a branch through a table goes
__device__ unsigned way(float value, int lane) {
   unsigned told;
   asm volatile("{ .reg .pred p; .reg .u32 way; setp.gt.u32 p, %1, 0xffffff00; selp.u32 way, 1, 0, p; mov.u32 %0, 0; ts: .branchtargets none, one; brx.idx way, ts; one: mov.u32 %0, 1; none: add.u32 %0, %0, 0; }" : "=r"(told) : "r"(__float_as_uint(value)));
   return told;
}
