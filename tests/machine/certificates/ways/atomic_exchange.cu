// why: the number that a compare-and-swap puts in
__device__ unsigned way(float value, int lane) {
   __shared__ unsigned kept;
   if (lane == 0)
      kept = 0;
   __syncthreads();
   atomicCAS(&kept, 0, __float_as_uint(value) > 0xffffff00u);
   __syncthreads();
   return kept;
}
