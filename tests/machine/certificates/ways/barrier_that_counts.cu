// why: a barrier that counts
__device__ unsigned way(float value, int lane) {
   return __syncthreads_count(__float_as_uint(value) > 0xffffff00u);
}
