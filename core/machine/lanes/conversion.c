/* cvt (PTX ISA 9.0, 9.7.9.21): between every pair of scalar types, with its rounding, .sat and .ftz, and the packed forms to
 * f16x2 and bf16x2.  The frequent pairs have handlers of their own; the rest go through one value a lane. */
#include "machine/lanes/handlers.h"
#include "machine/lanes/half.h"
#include "machine/lanes/rounding_mode.h"

UNARY_OP(cvt_s64_s32, int64_t, int32_t, x)
UNARY_OP(cvt_u64_u32, uint64_t, uint32_t, x)
UNARY_OP(cvt_u32_u64, uint32_t, uint64_t, x)
UNARY_OP(cvt_b32_b32, uint32_t, uint32_t, x)
UNARY_OP(cvt_f32_s32, float, int32_t, x)
UNARY_OP(cvt_f32_u32, float, uint32_t, x)
UNARY_OP(cvt_f64_f32, double, float, x)
UNARY_OP(cvt_f64_s32, double, int32_t, x)
UNARY_OP(cvt_f32_f64, float, double, (float)x)
UNARY_OP(cvt_f32_f16, float, uint32_t,
         (x & 0x7fff) > 0x7c00 ? bits_to_float(0x7fffffff) : half_to_float((uint16_t)x))
UNARY_OP(cvt_f32_bf16, uint32_t, uint32_t, x << 16)

OP(cvt_sat_f32) {
   const float *a = LANES_OF(float, i->a);
   float *d = LANES_OF(float, i->d);
   EACH_LANE {
      float x = a[l], r = x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
      d[l] = KEEP(r, d[l]);
   }
}

/* bfloat16 of a float, to nearest even: on bits, so that it vectorises. */
static inline uint32_t float_to_bfloat(float x) {
   uint32_t bits = float_to_bits(x);
   uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
   return x != x ? 0x7fff : rounded;
}

UNARY_OP(cvt_bf16_f32, uint32_t, float, float_to_bfloat(x))
BINARY_OP(cvt_bf16x2_f32, uint32_t, float, float, float_to_bfloat(x) << 16 | float_to_bfloat(y))

typedef struct number { /* an integer or a real, exactly */
   bool real;
   bool is_signed;
   uint64_t integer;
   double value;
} number_t;

static number_t read_number(uint64_t bits, uint32_t type, bool ftz) {
   number_t n = {.real = ptx_type_is_float(type)};
   float narrow;
   switch (type) {
   case PTX_F16:
      n.value = half_to_float((uint16_t)bits);
      break;
   case PTX_BF16:
      n.value = bits_to_float((uint32_t)bits << 16);
      break;
   case PTX_F32:
      narrow = bits_to_float((uint32_t)bits);
      if (ftz && narrow != narrow)
         narrow = bits_to_float(0x7fffffff);
      n.value = ftz && fabsf(narrow) < 0x1p-126f ? copysign(0.0, (double)narrow) : (double)narrow;
      break;
   case PTX_F64:
      memcpy(&n.value, &bits, sizeof n.value);
      break;
   default: {
      uint32_t shift = 64 - 8 * ptx_type_bytes(type);
      n.is_signed = ptx_type_is_signed(type);
      n.integer = n.is_signed ? (uint64_t)((int64_t)(bits << shift) >> shift) : bits << shift >> shift;
   }
   }
   return n;
}

static uint64_t to_integer(number_t n, uint32_t type, uint32_t rounding, bool sat, bool from_wide) {
   const uint32_t width = 8 * ptx_type_bytes(type);
   const bool is_signed = ptx_type_is_signed(type);
   const uint64_t most = is_signed ? (1ull << (width - 1)) - 1 : width == 64 ? ~0ull : (1ull << width) - 1;
   const int64_t least = is_signed ? -(int64_t)most - 1 : 0;
   if (n.real) {              /* always clamped; NaN gives 0 */
      if (n.value != n.value) /* "Zero if source is not .f64 and destination is not .u64/.s64" (9.7.9.21) */
         return from_wide || width == 64 ? 1ull << (width - 1) : 0;
      double r = round_integer(n.value, rounding);
      if (r >= ldexp(1.0, (int)width - is_signed))
         return most;
      if (r <= (double)least)
         return (uint64_t)least;
      return is_signed || r < 0x1p63 ? (uint64_t)(int64_t)r : (uint64_t)r;
   }
   if (sat) {
      bool negative = n.is_signed && (int64_t)n.integer < 0;
      if (negative ? (int64_t)n.integer < least : false)
         return (uint64_t)least;
      if (!negative && n.integer > most)
         return most;
   }
   return n.integer;
}

/* NaN of a double keeps its sign and the upper bits of its payload, made quiet. */
static uint64_t narrow_nan(double x, uint32_t type) {
   uint64_t bits;
   memcpy(&bits, &x, sizeof bits);
   const uint32_t sign = (uint32_t)(bits >> 63) << 15;
   return type == PTX_F16 ? sign | 0x7e00 | (bits >> 42 & 0x3ff) : sign | 0x7fc0 | (bits >> 45 & 0x7f);
}

static uint64_t from_real(double x, uint32_t type, uint32_t rounding, uint32_t flags) {
   if (flags & FLAG_SAT)
      x = x > 0 ? (x < 1 ? x : 1) : 0;
   if (x != x && (flags & FLAG_FROM_DOUBLE) && (type == PTX_F16 || type == PTX_BF16))
      return narrow_nan(x, type);
   switch (type) {
   case PTX_F16:
      return double_to_half(x, rounding);
   case PTX_BF16:
      return double_to_bfloat(x, rounding);
   case PTX_F32: {
      if (x != x && !(flags & FLAG_FROM_DOUBLE))
         return 0x7fffffff;
      if (rounding != ROUND_NEAREST)
         set_rounding(rounding);
      volatile double wide = x;
      volatile float narrow = (float)wide;
      if (rounding != ROUND_NEAREST)
         set_rounding(ROUND_NEAREST);
      float r = narrow;
      return float_to_bits((flags & FLAG_FTZ) && fabsf(r) < 0x1p-126f ? copysignf(0.0f, r) : r);
   }
   default: {
      uint64_t bits;
      memcpy(&bits, &x, sizeof bits);
      return bits;
   }
   }
}

static uint64_t from_integer(number_t n, uint32_t type, uint32_t rounding, uint32_t flags) {
   if (rounding != ROUND_NEAREST)
      set_rounding(rounding);
   volatile uint64_t whole = n.integer;
   double wide;
   float narrow;
   if (n.is_signed) {
      volatile double w = (double)(int64_t)whole;
      volatile float f = (float)(int64_t)whole;
      wide = w;
      narrow = f;
   } else {
      volatile double w = (double)whole;
      volatile float f = (float)whole;
      wide = w;
      narrow = f;
   }
   if (rounding != ROUND_NEAREST)
      set_rounding(ROUND_NEAREST);
   if (type == PTX_F32)
      return from_real(narrow, type, ROUND_NEAREST, flags);
   /* f16 and bf16 of integers beyond 2^53 round twice; such an integer is past f16's range, and bf16 keeps 8 bits. */
   return from_real(wide, type, type == PTX_F64 ? ROUND_NEAREST : rounding, flags);
}

static double rectify(double x, uint32_t flags) {
   return (flags & FLAG_ABS) && x <= 0 ? 0.0 : x; /* .relu; NaN stays, -0 becomes +0 */
}

static uint64_t convert(uint64_t bits, const machine_instruction_t *i, uint32_t register_bytes) {
   number_t n = read_number(bits, i->source_type, i->flags & FLAG_FTZ);
   uint64_t result;
   if (ptx_type_is_float(i->type)) {
      if (!n.real)
         result = from_integer(n, i->type, i->rounding, i->flags);
      else if (i->operation) /* cvt.rni.f32.f32: to an integral value */
         result = from_real(copysign(round_integer(n.value, i->rounding), n.value), i->type, ROUND_NEAREST,
                            i->flags);
      else
         result = from_real(rectify(n.value, i->flags), i->type, i->rounding, i->flags);
   } else {
      result = to_integer(n, i->type, i->rounding, i->flags & FLAG_SAT, i->source_type == PTX_F64);
      uint32_t shift = 64 - 8 * ptx_type_bytes(i->type);
      result = ptx_type_is_signed(i->type) ? (uint64_t)((int64_t)(result << shift) >> shift)
                                           : result << shift >> shift;
   }
   return register_bytes < 8 ? result & ((1ull << 8 * register_bytes) - 1) : result;
}

/* element_bytes: of the destination register as declared; elements: 8 when the source register is 64 bits wide. */
OP(cvt) {
   for (int l = 0; l < LANES; l++) {
      if (!(mask >> l & 1))
         continue;
      uint64_t bits = i->elements == 8 ? LANES_OF(uint64_t, i->a)[l] : LANES_OF(uint32_t, i->a)[l];
      uint64_t result = convert(bits, i, i->element_bytes);
      if (i->element_bytes == 8)
         LANES_OF(uint64_t, i->d)[l] = result;
      else
         LANES_OF(uint32_t, i->d)[l] = (uint32_t)result;
   }
}

/* f32 to a half and back.  A half register may carry a shadow, which only these two conversions write and read.  So a number that was rounded on
 * its way through a half keeps its shadow without that rounding. */
OP(cvt_narrow) {
   const uint32_t changes = FLAG_FTZ | FLAG_SAT | FLAG_ABS |
                            FLAG_FROM_DOUBLE; /* others, of inline assembly, leave the number as it is */
   if (i->type == PTX_BF16 && !(i->flags & changes) && i->rounding == ROUND_NEAREST)
      OP_NAME(cvt_bf16_f32)(warp, i, mask);
   else
      OP_NAME(cvt)(warp, i, mask);
   set_defined(warp, i->di, warp->defined[i->ai], mask);
   if (warp->taint)
      set_taint(warp, i->di, warp->taint[i->ai], mask);
   if (!warp->shadow)
      return;
   warp->valid[i->di] &= ~mask;
   if (i->flags & (FLAG_SAT | FLAG_ABS))
      return;
   machine_shadow_fill(warp, i->a, i->ai);
   const double *a = SHADOW_OF(i->a);
   double *d = SHADOW_OF(i->d);
   EACH_LANE d[l] = KEEP(a[l], d[l]);
   warp->valid[i->di] |= mask;
}

OP(cvt_widen) {
   const uint32_t carried = warp->valid ? warp->valid[i->ai] : 0;
   if (i->source_type == PTX_BF16)
      OP_NAME(cvt_f32_bf16)(warp, i, mask);
   else
      OP_NAME(cvt_f32_f16)(warp, i, mask);
   set_defined(warp, i->di, warp->defined[i->ai], mask);
   if (warp->taint)
      set_taint(warp, i->di, warp->taint[i->ai], mask);
   if (!warp->shadow)
      return;
   const double *a = SHADOW_OF(i->a);
   const float *result = LANES_OF(float, i->d);
   double *d = SHADOW_OF(i->d);
   EACH_LANE {
      double r = carried >> l & 1 ? a[l] : (double)result[l];
      d[l] = KEEP(r, d[l]);
   }
   warp->valid[i->di] |= mask;
}

/* cvt.rn.f16x2.f32 d, a, b: a is the upper half. */
OP(cvt_packed) {
   const float *a = LANES_OF(float, i->a), *b = LANES_OF(float, i->b);
   uint32_t *d = LANES_OF(uint32_t, i->d);
   for (int l = 0; l < LANES; l++) {
      if (!(mask >> l & 1))
         continue;
      double x = rectify(a[l], i->flags), y = rectify(b[l], i->flags);
      uint32_t type = i->type == PTX_F16X2 ? PTX_F16 : PTX_BF16;
      d[l] =
         (uint32_t)from_real(x, type, i->rounding, 0) << 16 | (uint32_t)from_real(y, type, i->rounding, 0);
   }
}

/* cvt.rn.satfinite.e4m3x2.f32 d, a, b and .e5m2x2: a is the upper byte.  operation: 1 for e5m2. */
OP(cvt_eight_f32) {
   const float *a = LANES_OF(float, i->a), *b = LANES_OF(float, i->b);
   uint32_t *d = LANES_OF(uint32_t, i->d);
   for (int l = 0; l < LANES; l++)
      if (mask >> l & 1)
         d[l] = (uint32_t)double_to_eight(rectify(a[l], i->flags), i->operation) << 8 |
                double_to_eight(rectify(b[l], i->flags), i->operation);
}

OP(cvt_eight_f16) {
   const uint32_t *a = LANES_OF(uint32_t, i->a);
   uint32_t *d = LANES_OF(uint32_t, i->d);
   for (int l = 0; l < LANES; l++)
      if (mask >> l & 1) {
         const double upper = rectify(half_to_float((uint16_t)(a[l] >> 16)), i->flags),
                      lower = rectify(half_to_float((uint16_t)a[l]), i->flags);
         d[l] = (uint32_t)double_to_eight(upper, i->operation) << 8 | double_to_eight(lower, i->operation);
      }
}

static uint32_t half_of_eight(uint32_t bits, const machine_instruction_t *i) {
   const uint16_t half = eight_to_half((uint8_t)bits, i->operation);
   return (i->flags & FLAG_ABS) && (half & 0x8000) ? 0 : half;
}

OP(cvt_f16_eight) {
   const uint32_t *a = LANES_OF(uint32_t, i->a);
   uint32_t *d = LANES_OF(uint32_t, i->d);
   for (int l = 0; l < LANES; l++)
      if (mask >> l & 1)
         d[l] = half_of_eight(a[l] >> 8, i) << 16 | half_of_eight(a[l], i);
}

/* cvt.rna.tf32.f32: ten bits of fraction, ties away from zero (or rn, rz). */
OP(cvt_tf32) {
   const float *a = LANES_OF(float, i->a);
   float *d = LANES_OF(float, i->d);
   for (int l = 0; l < LANES; l++)
      if (mask >> l & 1)
         d[l] = a[l] != a[l]
                   ? bits_to_float(float_to_bits(a[l]) & 0xffffe000)
                   : (float)round_to_format(rectify(a[l], i->flags), 10, -126, 0x1.ffcp127, i->rounding);
}

/* cvt.pack.sat.type.s32[.b32] d, a, b[, c]: a above b, and above them the low half of c. */
OP(cvt_pack) {
   const int32_t *a = LANES_OF(int32_t, i->a), *b = LANES_OF(int32_t, i->b);
   const uint32_t *c = LANES_OF(uint32_t, i->c);
   uint32_t *d = LANES_OF(uint32_t, i->d);
   const uint32_t bits = 8 * ptx_type_bytes(i->type), ones = (uint32_t)((1ull << bits) - 1);
   for (int l = 0; l < LANES; l++) {
      if (!(mask >> l & 1))
         continue;
      uint32_t x = (uint32_t)to_integer((number_t){.is_signed = true, .integer = (uint64_t)(int64_t)a[l]},
                                        i->type, 0, true, false);
      uint32_t y = (uint32_t)to_integer((number_t){.is_signed = true, .integer = (uint64_t)(int64_t)b[l]},
                                        i->type, 0, true, false);
      d[l] = (x & ones) << bits | (y & ones) | (bits == 8 ? c[l] << 16 : 0);
   }
}
