// why: words of a variable of the module
__device__ unsigned kept[1 << 16];

__device__ unsigned way(float value, int lane) {
   volatile unsigned *place = &kept[32 * blockIdx.x + lane];
   *place = __float_as_uint(value) > 0xffffff00u;
   return *place;
}
