// why: a number that was double for a while
__device__ unsigned way(float value, int lane) {
   double told;
   asm volatile("cvt.f64.f32 %0, %1;" : "=d"(told) : "f"(value));
   return told != told;
}
