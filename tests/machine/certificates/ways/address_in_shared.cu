// why: which word of shared memory is read
__device__ unsigned way(float value, int lane) {
   __shared__ unsigned kept[32];
   kept[lane] = 0;
   __syncthreads();
   asm volatile("" : : "r"(kept[__float_as_uint(value) > 0xffffff00u]));
   return 0;
}
