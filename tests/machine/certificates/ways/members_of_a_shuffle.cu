// why: which lanes take part in a shuffle
__device__ unsigned way(float value, int lane) {
   const unsigned members = __float_as_uint(value) > 0xffffff00u ? 1 : 0xffffffffu;
   return __shfl_sync(members, 0, 0);
}
