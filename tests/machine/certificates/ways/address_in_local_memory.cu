// why: which word of local memory is read
__device__ unsigned way(float value, int lane) {
   unsigned kept[4] = {0, 0, 0, 0};
   asm volatile("" : : "l"(kept) : "memory");
   asm volatile("" : : "r"(kept[__float_as_uint(value) > 0xffffff00u ? 1 << 20 : lane & 3]));
   return 0;
}
