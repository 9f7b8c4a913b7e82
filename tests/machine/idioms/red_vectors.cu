// why: reductions of two and four numbers at once; lanes that add to one place are no race, a plain store there is one
// buffer: y inout f32 8 zero
// buffer: z inout f32 4 zero
// launch: vectors grid=4 block=32 args=y,z
// expect: pass
// broken: reject race.global
extern "C" __global__ void vectors(float *y, float *z) {
   const float t = threadIdx.x;
#ifdef BROKEN
   if (blockIdx.x == 3 && threadIdx.x == 0)
      y[5] = 1;
#endif
   asm volatile("red.global.v4.f32.add [%0], {%1, %1, %1, %1};" :: "l"(y + 4), "f"(t) : "memory");
   asm volatile("red.global.add.v2.f32 [%0], {%1, %1};" :: "l"(y), "f"(1.0f) : "memory");
   float a, b;
   asm volatile("atom.global.v2.f32.add {%0, %1}, [%2], {%3, %3};" : "=f"(a), "=f"(b) : "l"(z), "f"(1.0f) : "memory");
   asm volatile("red.global.v4.bf16x2.noftz.add [%0], {%1, %1, %1, %1};" :: "l"(z), "r"(0) : "memory");
   asm volatile("{ .reg .b16 h; mov.b16 h, 0; red.global.v8.f16.noftz.min [%0], {h, h, h, h, h, h, h, h}; }" :: "l"(z) : "memory");
}
