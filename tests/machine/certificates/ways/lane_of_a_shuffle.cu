// why: which lane a shuffle reads
__device__ unsigned way(float value, int lane) {
   return __shfl_sync(0xffffffffu, lane != 0, __float_as_uint(value) > 0xffffff00u);
}
