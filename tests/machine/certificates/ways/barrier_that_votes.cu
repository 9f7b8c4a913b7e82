// why: a barrier that votes
__device__ unsigned way(float value, int lane) {
   return __syncthreads_or(__float_as_uint(value) > 0xffffff00u);
}
