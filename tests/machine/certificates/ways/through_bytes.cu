// why: bytes of a variable of the module
__device__ unsigned char kept[1 << 16];

__device__ unsigned way(float value, int lane) {
   kept[32 * blockIdx.x + lane] = __float_as_uint(value) > 0xffffff00u;
   __syncthreads();
   return kept[32 * blockIdx.x + (lane ^ 1)];
}
