// why: every value of the two 8-bit formats, worked out here from its bits, goes to a half and back, and what is too large
// why: saturates
// buffer: y out i32 256
// launch: eight grid=1 block=256 args=y
// expect: pass
// broken: reject plan.trap
#ifndef BROKEN
#define BIAS 7
#else
#define BIAS 8
#endif
__device__ float of_bits(int code, int fraction_bits, int bias) {
   int exponent = code >> fraction_bits & ((1 << (7 - fraction_bits)) - 1), fraction = code & ((1 << fraction_bits) - 1);
   float scale = 1.0f, value = exponent ? (float)(fraction + (1 << fraction_bits)) : (float)fraction;
   for (int e = (exponent ? exponent : 1) - bias - fraction_bits; e != 0; e += e < 0 ? 1 : -1)
      scale *= e < 0 ? 0.5f : 2.0f;
   return (code & 128 ? -1.0f : 1.0f) * value * scale;
}
extern "C" __global__ void eight(int *y) {
   const int code = threadIdx.x;
   const bool nan4 = (code & 127) == 127, odd5 = (code & 127) > 123; /* infinities and NaN of e5m2 */
   const unsigned short pair = (unsigned short)(code << 8 | code);
   unsigned halves;
   unsigned short again;
   float low;
   asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(pair));
   asm("{.reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, h;}" : "=f"(low) : "r"(halves));
   asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(again) : "r"(halves));
   if (nan4 ? low == low || again != 0x7f7f : low != of_bits(code, 3, BIAS) || again != pair)
      __trap();
   asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(pair));
   asm("{.reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, l;}" : "=f"(low) : "r"(halves));
   asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %1;" : "=h"(again) : "f"(low));
   if (!odd5 && (low != of_bits(code, 2, 15) || again != pair))
      __trap();
   asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(again) : "f"(1e9f), "f"(-465.0f));
   if (again != 0x7efe)
      __trap();
   asm("cvt.rn.satfinite.relu.e5m2x2.f32 %0, %1, %2;" : "=h"(again) : "f"(-3.0f), "f"(1e9f));
   if (again != 0x007b)
      __trap();
   y[code] = again;
}
