// why: which barrier is waited at
__device__ unsigned way(float value, int lane) {
   asm volatile("barrier.sync %0;" : : "r"(__float_as_uint(value) > 0xffffff00u ? 16 : 2) : "memory");
   return 0;
}
