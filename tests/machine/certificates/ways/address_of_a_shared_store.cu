// why: which word of shared memory is written
__device__ unsigned way(float value, int lane) {
   __shared__ unsigned kept[64];
   kept[lane + (__float_as_uint(value) > 0xffffff00u)] = 0;
   asm volatile("" : : "l"(kept) : "memory");
   return 0;
}
