// why: a ballot
__device__ unsigned way(float value, int lane) {
   return __ballot_sync(0xffffffffu, __float_as_uint(value) > 0xffffff00u);
}
