// why: a load that never happens here
__device__ unsigned way(float value, int lane) {
   __shared__ unsigned one;
   unsigned told = 0;
   if (lane == 0)
      one = 1;
   __syncthreads();
   asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 0xffffff00; @p ld.shared.u32 %0, [%2]; }"
                : "+r"(told) : "r"(__float_as_uint(value)), "l"(__cvta_generic_to_shared(&one)));
   return 0;
}
