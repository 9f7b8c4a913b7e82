// why: what an atomic operation returns
__device__ unsigned way(float value, int lane) {
   __shared__ unsigned most;
   if (lane == 0)
      most = 0;
   __syncthreads();
   atomicMax(&most, __float_as_uint(value) > 0xffffff00u);
   __syncthreads();
   return atomicAdd(&most, 0);
}
