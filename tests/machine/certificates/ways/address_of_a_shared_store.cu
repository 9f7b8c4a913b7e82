// why: which word of shared memory is written
__device__ unsigned way(float value, int lane) {
   __shared__ unsigned kept[64];
   volatile unsigned *place = &kept[lane + (__float_as_uint(value) > 0xffffff00u)];
   *place = 0;
   return 0;
}
