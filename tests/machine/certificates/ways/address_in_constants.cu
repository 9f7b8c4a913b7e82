// why: which constant is read
__constant__ unsigned table[1] = {0};

__device__ unsigned way(float value, int lane) {
   asm volatile("" : : "r"(table[__float_as_uint(value) > 0xffffff00u]));
   return 0;
}
