// why: local memory
__device__ unsigned way(float value, int lane) {
   unsigned kept[4] = {0, 0, 0, 0};
   kept[lane & 3] = __float_as_uint(value) > 0xffffff00u;
   asm volatile("" : : "l"(kept) : "memory");
   return kept[(lane + 4) & 3];
}
