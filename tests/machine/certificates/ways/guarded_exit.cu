// why: threads that would leave
__device__ unsigned way(float value, int lane) {
   asm volatile("{ .reg .pred p; setp.gt.u32 p, %0, 0xffffff00; @p exit; }" : : "r"(__float_as_uint(value)));
   return 0;
}
