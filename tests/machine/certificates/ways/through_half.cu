// why: a number that was half for a while
__device__ unsigned way(float value, int lane) {
   float told;
   asm volatile("{ .reg .b16 h; cvt.rn.f16.f32 h, %1; cvt.f32.f16 %0, h; }" : "=f"(told) : "f"(value));
   return told != told;
}
