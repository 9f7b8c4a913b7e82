// why: pairs of words of a variable of the module
__device__ uint2 kept[1 << 15];

__device__ unsigned way(float value, int lane) {
   kept[32 * blockIdx.x + lane] = make_uint2(__float_as_uint(value) > 0xffffff00u, 0);
   __syncthreads();
   return kept[32 * blockIdx.x + (lane ^ 1)].x;
}
