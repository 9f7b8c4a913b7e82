// why: whether all lanes hold the same value
__device__ unsigned way(float value, int lane) {
   int same;
   __match_all_sync(0xffffffffu, __float_as_uint(value) > 0xffffff00u, &same);
   return !same;
}
