// why: a carry that goes through three limbs
__device__ unsigned way(float value, int lane) {
   unsigned told;
   asm volatile("{ .reg .u32 sum; add.cc.u32 sum, %1, 0xff; addc.cc.u32 sum, 0xffffffff, 0; addc.cc.u32 sum, 0xffffffff, 0; addc.u32 %0, 0, 0; }" : "=r"(told) : "r"(__float_as_uint(value)));
   return told;
}
