// why: where an atomic operation acts
__device__ unsigned way(float value, int lane) {
   __shared__ unsigned counts[2];
   atomicExch(&counts[__float_as_uint(value) > 0xffffff00u], 0);
   return 0;
}
