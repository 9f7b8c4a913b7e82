// why: the segment that a shuffle keeps within
__device__ unsigned way(float value, int lane) {
   unsigned got, end = __float_as_uint(value) > 0xffffff00u ? 0 : 31;
   asm volatile("shfl.sync.idx.b32 %0, %1, 1, %2, 0xffffffff;" : "=r"(got) : "r"(lane), "r"(end));
   return got != 1;
}
