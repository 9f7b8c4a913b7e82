// why: bytes of shared memory
__device__ unsigned way(float value, int lane) {
   __shared__ unsigned char kept[32];
   kept[lane] = __float_as_uint(value) > 0xffffff00u;
   __syncthreads();
   return kept[lane ^ 1];
}
