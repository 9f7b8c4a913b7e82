// why: which lanes a warp waits for
__device__ unsigned way(float value, int lane) {
   __syncwarp(__float_as_uint(value) > 0xffffff00u ? 1 : 0xffffffffu);
   return 0;
}
