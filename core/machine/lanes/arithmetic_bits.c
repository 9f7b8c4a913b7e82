/* Logic, shifts and bit fields (PTX ISA 9.0, 9.7.1 and 9.7.8).  Shift counts beyond the width are clamped to it. */
#include "machine/lanes/handlers.h"

#define H(x) ((uint16_t)(x))

BINARY_OP(and_b32, uint32_t, uint32_t, uint32_t, x &y)
BINARY_OP(or_b32, uint32_t, uint32_t, uint32_t, x | y)
BINARY_OP(xor_b32, uint32_t, uint32_t, uint32_t, x ^ y)
BINARY_OP(and_b64, uint64_t, uint64_t, uint64_t, x &y)
BINARY_OP(or_b64, uint64_t, uint64_t, uint64_t, x | y)
BINARY_OP(xor_b64, uint64_t, uint64_t, uint64_t, x ^ y)
UNARY_OP(not_b16, uint32_t, uint32_t, H(~x))
UNARY_OP(not_b32, uint32_t, uint32_t, ~x)
UNARY_OP(not_b64, uint64_t, uint64_t, ~x)
UNARY_OP(cnot_b16, uint32_t, uint32_t, H(x) == 0)
UNARY_OP(cnot_b32, uint32_t, uint32_t, x == 0)
UNARY_OP(cnot_b64, uint64_t, uint64_t, x == 0)

BINARY_OP(shl_b16, uint32_t, uint32_t, uint32_t, y > 15 ? 0 : H(x << (y & 15)))
BINARY_OP(shl_b32, uint32_t, uint32_t, uint32_t, y > 31 ? 0 : x << (y & 31))
BINARY_OP(shl_b64, uint64_t, uint64_t, uint32_t, y > 63 ? 0 : x << (y & 63))
BINARY_OP(shr_u16, uint32_t, uint32_t, uint32_t, y > 15 ? 0 : H(x) >> (y & 15))
BINARY_OP(shr_s16, uint32_t, uint32_t, uint32_t, H((int16_t)x >> (y > 15 ? 15 : y)))
BINARY_OP(shr_u32, uint32_t, uint32_t, uint32_t, y > 31 ? 0 : x >> (y & 31))
BINARY_OP(shr_s32, int32_t, int32_t, uint32_t, x >> (y > 31 ? 31 : y))
BINARY_OP(shr_u64, uint64_t, uint64_t, uint32_t, y > 63 ? 0 : x >> (y & 63))
BINARY_OP(shr_s64, int64_t, int64_t, uint32_t, x >> (y > 63 ? 63 : y))

static inline uint32_t funnel_left(uint32_t low, uint32_t high, uint32_t count) {
   return count >= 32 ? low : (uint32_t)(((uint64_t)high << 32 | low) << count >> 32);
}

static inline uint32_t funnel_right(uint32_t low, uint32_t high, uint32_t count) {
   return count >= 32 ? high : (uint32_t)(((uint64_t)high << 32 | low) >> count);
}

TERNARY_OP(shf_l_wrap, uint32_t, uint32_t, uint32_t, uint32_t, funnel_left(x, y, z & 31))
TERNARY_OP(shf_l_clamp, uint32_t, uint32_t, uint32_t, uint32_t, funnel_left(x, y, z > 32 ? 32 : z))
TERNARY_OP(shf_r_wrap, uint32_t, uint32_t, uint32_t, uint32_t, funnel_right(x, y, z & 31))
TERNARY_OP(shf_r_clamp, uint32_t, uint32_t, uint32_t, uint32_t, funnel_right(x, y, z > 32 ? 32 : z))

static inline uint32_t reverse32(uint32_t x) {
   x = (x & 0x55555555) << 1 | (x >> 1 & 0x55555555);
   x = (x & 0x33333333) << 2 | (x >> 2 & 0x33333333);
   x = (x & 0x0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f);
   return __builtin_bswap32(x);
}

UNARY_OP(popc_b32, uint32_t, uint32_t, __builtin_popcount(x))
UNARY_OP(popc_b64, uint32_t, uint64_t, __builtin_popcountll(x))
UNARY_OP(clz_b32, uint32_t, uint32_t, x ? __builtin_clz(x) : 32)
UNARY_OP(clz_b64, uint32_t, uint64_t, x ? __builtin_clzll(x) : 64)
UNARY_OP(brev_b32, uint32_t, uint32_t, reverse32(x))
UNARY_OP(brev_b64, uint64_t, uint64_t,
         (uint64_t)reverse32((uint32_t)x) << 32 | reverse32((uint32_t)(x >> 32)))

static inline uint32_t find_high(uint64_t x, int bits, bool is_signed, bool shift_amount) {
   if (bits == 32)
      x = is_signed ? (uint64_t)(int64_t)(int32_t)x : (uint32_t)x;
   if (is_signed && (int64_t)x < 0)
      x = ~x;
   if (x == 0)
      return FULL_MASK;
   uint32_t high = 63 - (uint32_t)__builtin_clzll(x);
   return shift_amount ? (uint32_t)bits - 1 - high : high;
}

UNARY_OP(bfind_u32, uint32_t, uint32_t, find_high(x, 32, false, false))
UNARY_OP(bfind_s32, uint32_t, uint32_t, find_high(x, 32, true, false))
UNARY_OP(bfind_u64, uint32_t, uint64_t, find_high(x, 64, false, false))
UNARY_OP(bfind_s64, uint32_t, uint64_t, find_high(x, 64, true, false))
UNARY_OP(bfind_shift_u32, uint32_t, uint32_t, find_high(x, 32, false, true))
UNARY_OP(bfind_shift_s32, uint32_t, uint32_t, find_high(x, 32, true, true))
UNARY_OP(bfind_shift_u64, uint32_t, uint64_t, find_high(x, 64, false, true))
UNARY_OP(bfind_shift_s64, uint32_t, uint64_t, find_high(x, 64, true, true))

/* Start and length are 8 bits; bits past the end read as zero, or as the field's top bit when signed. */
static inline uint64_t extract(uint64_t x, uint32_t start, uint32_t length, int bits, bool is_signed) {
   start &= 255;
   length &= 255;
   uint64_t result = 0;
   if (length == 0)
      return 0;
   uint32_t top = start + length - 1 < (uint32_t)bits - 1 ? start + length - 1 : (uint32_t)bits - 1;
   uint64_t sign = is_signed && (x >> top & 1);
   if (start < (uint32_t)bits)
      result = x >> start;
   uint32_t have = start < (uint32_t)bits ? (uint32_t)bits - start : 0;
   if (length < have)
      have = length;
   if (have < 64)
      result &= (1ull << have) - 1;
   if (sign && have < 64)
      result |= ~0ull << have;
   return result;
}

TERNARY_OP(bfe_u32, uint32_t, uint32_t, uint32_t, uint32_t, extract(x, y, z, 32, false))
TERNARY_OP(bfe_s32, uint32_t, uint32_t, uint32_t, uint32_t, extract(x, y, z, 32, true))
TERNARY_OP(bfe_u64, uint64_t, uint64_t, uint32_t, uint32_t, extract(x, y, z, 64, false))
TERNARY_OP(bfe_s64, uint64_t, uint64_t, uint32_t, uint32_t, extract(x, y, z, 64, true))

static inline uint64_t insert(uint64_t field, uint64_t base, uint32_t start, uint32_t length, uint32_t bits) {
   start &= 255;
   length &= 255;
   if (start >= bits || length == 0)
      return base;
   if (length > bits - start)
      length = bits - start;
   uint64_t ones = length >= 64 ? ~0ull : (1ull << length) - 1;
   return (base & ~(ones << start)) | (field & ones) << start;
}

/* bfi has four operands: the fourth is the first extra one. */
OP(bfi_b32) {
   const uint32_t *a = LANES_OF(uint32_t, i->a), *b = LANES_OF(uint32_t, i->b), *c = LANES_OF(uint32_t, i->c);
   const uint32_t *e = LANES_OF(uint32_t, warp->program->extras[i->extra].offset);
   uint32_t *d = LANES_OF(uint32_t, i->d);
   EACH_LANE d[l] = KEEP((uint32_t)insert(a[l], b[l], c[l], e[l], 32), d[l]);
}

OP(bfi_b64) {
   const uint64_t *a = LANES_OF(uint64_t, i->a), *b = LANES_OF(uint64_t, i->b);
   const uint32_t *c = LANES_OF(uint32_t, i->c),
                  *e = LANES_OF(uint32_t, warp->program->extras[i->extra].offset);
   uint64_t *d = LANES_OF(uint64_t, i->d);
   EACH_LANE d[l] = KEEP(insert(a[l], b[l], c[l], e[l], 64), d[l]);
}

static inline uint32_t bit_mask(uint32_t start, uint32_t length, bool clamp) {
   if (!clamp) {
      start &= 31;
      length &= 31;
   }
   if (start > 31 || length == 0)
      return 0;
   uint32_t ones = length > 31 ? FULL_MASK : (1u << length) - 1;
   return ones << start;
}

BINARY_OP(bmsk_clamp, uint32_t, uint32_t, uint32_t, bit_mask(x, y, true))
BINARY_OP(bmsk_wrap, uint32_t, uint32_t, uint32_t, bit_mask(x, y, false))

static inline uint32_t sign_extend(uint32_t x, uint32_t bits, bool is_signed, bool clamp) {
   if (!clamp)
      bits &= 31;
   if (bits == 0)
      return 0;
   if (bits > 31)
      return x;
   x &= (1u << bits) - 1;
   return is_signed && (x >> (bits - 1) & 1) ? x | FULL_MASK << bits : x;
}

BINARY_OP(szext_clamp_u32, uint32_t, uint32_t, uint32_t, sign_extend(x, y, false, true))
BINARY_OP(szext_clamp_s32, uint32_t, uint32_t, uint32_t, sign_extend(x, y, true, true))
BINARY_OP(szext_wrap_u32, uint32_t, uint32_t, uint32_t, sign_extend(x, y, false, false))
BINARY_OP(szext_wrap_s32, uint32_t, uint32_t, uint32_t, sign_extend(x, y, true, false))

static inline uint32_t select_byte(uint32_t x, uint32_t y, uint32_t selector) {
   uint64_t both = (uint64_t)y << 32 | x;
   uint8_t byte = (uint8_t)(both >> 8 * (selector & 7));
   return selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}

/* Modes of prmt: 0 is the plain one; the others spell a selector from the low two bits of c. */
static inline uint32_t permute(uint32_t x, uint32_t y, uint32_t z, uint32_t mode) {
   static const uint16_t f4e[4] = {0x3210, 0x4321, 0x5432, 0x6543}, b4e[4] = {0x5670, 0x6701, 0x7012, 0x0123};
   static const uint16_t ecl[4] = {0x3210, 0x3211, 0x3222, 0x3333}, ecr[4] = {0x0000, 0x1110, 0x2210, 0x3210};
   uint32_t k = z & 3, s = z;
   switch (mode) {
   case 1:
      s = f4e[k];
      break;
   case 2:
      s = b4e[k];
      break;
   case 3:
      s = k * 0x1111;
      break;
   case 4:
      s = ecl[k];
      break;
   case 5:
      s = ecr[k];
      break;
   case 6:
      s = k & 1 ? 0x3232 : 0x1010;
      break;
   default:
      break;
   }
   uint32_t result = 0;
   for (uint32_t n = 0; n < 4; n++)
      result |= select_byte(x, y, s >> 4 * n & 15) << 8 * n;
   return result;
}

TERNARY_OP(prmt_b32, uint32_t, uint32_t, uint32_t, uint32_t, permute(x, y, z, i->operation))

static inline uint32_t logic3(uint32_t x, uint32_t y, uint32_t z, uint32_t table) {
   uint32_t result = 0;
   for (uint32_t k = 0; k < 8; k++)
      if (table >> k & 1)
         result |= (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
   return result;
}

TERNARY_OP(lop3_b32, uint32_t, uint32_t, uint32_t, uint32_t, logic3(x, y, z, i->operation))

/* The position of the nth one bit from base, upwards when n > 0, downwards when n < 0; n = 0 asks about base itself. */
static inline uint32_t find_nth(uint32_t x, uint32_t base, int32_t n) {
   if (base > 31)
      return FULL_MASK;
   if (n == 0)
      return x >> base & 1 ? base : FULL_MASK;
   for (int32_t at = (int32_t)base; at >= 0 && at<32; at += n> 0 ? 1 : -1)
      if (x >> at & 1) {
         n += n > 0 ? -1 : 1;
         if (n == 0)
            return (uint32_t)at;
      }
   return FULL_MASK;
}

TERNARY_OP(fns_b32, uint32_t, uint32_t, uint32_t, int32_t, find_nth(x, y, z))

/* Predicates: whole masks. */
OP(and_pred) {
   set_predicate(warp, i->d, PREDICATE(i->a) & PREDICATE(i->b), mask);
}
OP(or_pred) {
   set_predicate(warp, i->d, PREDICATE(i->a) | PREDICATE(i->b), mask);
}
OP(xor_pred) {
   set_predicate(warp, i->d, PREDICATE(i->a) ^ PREDICATE(i->b), mask);
}
OP(not_pred) {
   set_predicate(warp, i->d, ~PREDICATE(i->a), mask);
}
OP(mov_pred) {
   set_predicate(warp, i->d, PREDICATE(i->a), mask);
}
