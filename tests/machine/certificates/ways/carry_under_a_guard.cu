// why: the condition code, which an instruction that never runs here would write
__device__ unsigned way(float value, int lane) {
   unsigned told;
   asm volatile("{ .reg .u32 sum; .reg .pred p; setp.gt.u32 p, %1, 0xffffff00; add.cc.u32 sum, 0, 0; @p add.cc.u32 sum, 0xffffffff, 1; addc.u32 %0, 0, 0; }" : "=r"(told) : "r"(__float_as_uint(value)));
   return told;
}
