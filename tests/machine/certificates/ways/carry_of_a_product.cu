// why: the carry out of a product of 64 bits
__device__ unsigned way(float value, int lane) {
   unsigned told;
   asm volatile("{ .reg .u64 x, sum; cvt.u64.u32 x, %1; mul.lo.u64 x, x, 0x100000000; mad.lo.cc.u64 sum, x, 1, 0xff00000000; addc.u32 %0, 0, 0; }" : "=r"(told) : "r"(__float_as_uint(value)));
   return told;
}
