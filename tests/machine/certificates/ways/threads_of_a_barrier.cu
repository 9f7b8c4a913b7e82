// why: how many threads a barrier waits for
__device__ unsigned way(float value, int lane) {
   asm volatile("barrier.sync 2, %0;" : : "r"(__float_as_uint(value) > 0xffffff00u ? 64 : 32) : "memory");
   return 0;
}
