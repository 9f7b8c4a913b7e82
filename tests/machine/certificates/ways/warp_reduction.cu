// why: a reduction over the warp
__device__ unsigned way(float value, int lane) {
   return __reduce_or_sync(0xffffffffu, __float_as_uint(value) > 0xffffff00u);
}
