// why: approximate functions
__device__ unsigned way(float value, int lane) {
   float told;
   asm volatile("{ .reg .f32 x; ex2.approx.ftz.f32 x, %1; tanh.approx.f32 x, x; sin.approx.ftz.f32 x, x; lg2.approx.ftz.f32 %0, x; }"
                : "=f"(told) : "f"(value));
   return told == 0.0625f;
}
