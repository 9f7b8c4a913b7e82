// why: which lanes hold the same value
__device__ unsigned way(float value, int lane) {
   return __match_any_sync(0xffffffffu, __float_as_uint(value) > 0xffffff00u) != 0xffffffffu;
}
