// why: the value of another lane
__device__ unsigned way(float value, int lane) {
   return __shfl_xor_sync(0xffffffffu, __float_as_uint(value) > 0xffffff00u, 1);
}
