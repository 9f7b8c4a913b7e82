/* Powers and logarithms in double precision, written so that 32 lanes vectorise.  The relative error is about 1e-14, far below half an ulp of a
 * float, so that rounding the result gives the correctly rounded float except near rare ties.  The manual allows ex2.approx 2 ulp and lg2.approx
 * an absolute 2^-22 (PTX ISA 9.0, 9.7.3).
 *
 * exp2: 2^x = 2^n * e^(f ln 2), |f| <= 1/2, Taylor to the 13th power (remainder below 4e-17).
 * log2: x = 2^e * m, m in [sqrt(1/2), sqrt(2)); log2(m) = 2/ln2 * atanh((m-1)/(m+1)), odd series to the 23rd power. */
#ifndef RKB_MACHINE_LANES_APPROXIMATE_H
#define RKB_MACHINE_LANES_APPROXIMATE_H

#include <stdint.h>
#include <string.h>

static inline double exp2_double(double x) {
   const double magic = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer in the low bits */
   double clamped = x > 1023.0 ? 1023.0 : x < -1021.0 ? -1021.0 : x;
   double shifted = clamped + magic;
   int64_t bits;
   memcpy(&bits, &shifted, sizeof bits);
   double n = shifted - magic, t = (clamped - n) * 0.693147180559945309417232;
   double p = 1.6059043836821613e-10;
   p = p * t + 2.0876756987868098e-09;
   p = p * t + 2.5052108385441720e-08;
   p = p * t + 2.7557319223985893e-07;
   p = p * t + 2.7557319223985888e-06;
   p = p * t + 2.4801587301587302e-05;
   p = p * t + 1.9841269841269841e-04;
   p = p * t + 1.3888888888888889e-03;
   p = p * t + 8.3333333333333333e-03;
   p = p * t + 4.1666666666666664e-02;
   p = p * t + 1.6666666666666666e-01;
   p = p * t + 0.5;
   p = p * t + 1.0;
   p = p * t + 1.0;
   int64_t power = (int64_t)((uint64_t)(bits + 1023) << 52);
   double scale;
   memcpy(&scale, &power, sizeof scale);
   double result = p * scale;
   result = x > 1023.9999 ? __builtin_inf() : result;
   result = x < -1020.0 ? 0.0 : result; /* far below the smallest float, 2^-149 */
   return x != x ? x : result;
}

static inline double log2_double(double x) {
   int64_t bits;
   memcpy(&bits, &x, sizeof bits);
   /* Take the mantissa into [sqrt(1/2), sqrt(2)): subtracting the bits of sqrt(1/2) leaves the exponent on top. */
   int64_t shifted = (int64_t)((uint64_t)bits - 0x3fe6a09e667f3bcdull);
   int64_t exponent = shifted & (int64_t)0xfff0000000000000ull;
   int64_t mantissa_bits = (int64_t)((uint64_t)bits - (uint64_t)exponent);
   double m, e;
   memcpy(&m, &mantissa_bits, sizeof m);
   /* (exponent >> 52) as a double without a 64-bit conversion, which AVX2 lacks. */
   int64_t biased = (int64_t)(((uint64_t)exponent >> 52 ^ 0x800) & 0xfff) | 0x4330000000000000ll;
   memcpy(&e, &biased, sizeof e);
   e -= 4503599627370496.0 + 2048.0;
   double s = (m - 1.0) / (m + 1.0), z = s * s;
   double p = 1.0 / 23;
   p = p * z + 1.0 / 21;
   p = p * z + 1.0 / 19;
   p = p * z + 1.0 / 17;
   p = p * z + 1.0 / 15;
   p = p * z + 1.0 / 13;
   p = p * z + 1.0 / 11;
   p = p * z + 1.0 / 9;
   p = p * z + 1.0 / 7;
   p = p * z + 1.0 / 5;
   p = p * z + 1.0 / 3;
   p = p * z + 1.0;
   double result = e + 2.88539008177792681472 * s * p; /* 2 / ln 2 */
   result = x == 0 ? -__builtin_inf() : result;
   result = x < 0 ? __builtin_nan("") : result;
   result = x > 1.7e308 ? __builtin_inf() : result;
   return x != x ? x : result;
}

#endif
