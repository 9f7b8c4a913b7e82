/* Integer arithmetic of all widths (PTX ISA 9.0, 9.7.1).  16-bit values live zero-extended in 32-bit slots. */
#include "machine/lanes/handlers.h"

typedef unsigned __int128 wide_t;
typedef __int128 signed_wide_t;

#define H(x) ((uint16_t)(x))
#define SH(x) ((int16_t)(x))

BINARY_OP(add_u16, uint32_t, uint32_t, uint32_t, H(x + y))
BINARY_OP(add_u32, uint32_t, uint32_t, uint32_t, x + y)
BINARY_OP(add_u64, uint64_t, uint64_t, uint64_t, x + y)
BINARY_OP(sub_u16, uint32_t, uint32_t, uint32_t, H(x - y))
BINARY_OP(sub_u32, uint32_t, uint32_t, uint32_t, x - y)
BINARY_OP(sub_u64, uint64_t, uint64_t, uint64_t, x - y)
BINARY_OP(add_u16x2, uint32_t, uint32_t, uint32_t, (uint32_t)H(x + y) | ((x >> 16) + (y >> 16)) << 16)

/* Saturating forms exist for s32 alone. */
BINARY_OP(add_sat_s32, int32_t, int32_t, int32_t,
          (int64_t)x + y > INT32_MAX   ? INT32_MAX
          : (int64_t)x + y < INT32_MIN ? INT32_MIN
                                       : (int64_t)x + y)
BINARY_OP(sub_sat_s32, int32_t, int32_t, int32_t,
          (int64_t)x - y > INT32_MAX   ? INT32_MAX
          : (int64_t)x - y < INT32_MIN ? INT32_MIN
                                       : (int64_t)x - y)

BINARY_OP(mul_lo_u16, uint32_t, uint32_t, uint32_t, H(x *y))
BINARY_OP(mul_lo_u32, uint32_t, uint32_t, uint32_t, x *y)
BINARY_OP(mul_lo_u64, uint64_t, uint64_t, uint64_t, x *y)
BINARY_OP(mul_hi_u16, uint32_t, uint32_t, uint32_t, (H(x) * (uint32_t)H(y)) >> 16)
BINARY_OP(mul_hi_s16, uint32_t, uint32_t, uint32_t, H((SH(x) * SH(y)) >> 16))
BINARY_OP(mul_hi_u32, uint32_t, uint32_t, uint32_t, (uint64_t)x *y >> 32)
BINARY_OP(mul_hi_s32, int32_t, int32_t, int32_t, (int64_t)x *y >> 32)
BINARY_OP(mul_hi_u64, uint64_t, uint64_t, uint64_t, (wide_t)x *y >> 64)
BINARY_OP(mul_hi_s64, int64_t, int64_t, int64_t, (signed_wide_t)x *y >> 64)
BINARY_OP(mul_wide_u16, uint32_t, uint32_t, uint32_t, H(x) * (uint32_t)H(y))
BINARY_OP(mul_wide_s16, uint32_t, uint32_t, uint32_t, SH(x) * SH(y))
BINARY_OP(mul_wide_u32, uint64_t, uint32_t, uint32_t, (uint64_t)x *y)
BINARY_OP(mul_wide_s32, int64_t, int32_t, int32_t, (int64_t)x *y)
BINARY_OP(mul24_lo_u32, uint32_t, uint32_t, uint32_t, (uint32_t)((uint64_t)(x & 0xffffff) * (y & 0xffffff)))
BINARY_OP(mul24_lo_s32, int32_t, int32_t, int32_t,
          (int64_t)((int32_t)((uint32_t)x << 8) >> 8) * ((int32_t)((uint32_t)y << 8) >> 8))

TERNARY_OP(mad_lo_u16, uint32_t, uint32_t, uint32_t, uint32_t, H(x *y + z))
TERNARY_OP(mad_lo_u32, uint32_t, uint32_t, uint32_t, uint32_t, x *y + z)
TERNARY_OP(mad_lo_u64, uint64_t, uint64_t, uint64_t, uint64_t, x *y + z)
TERNARY_OP(mad_hi_u32, uint32_t, uint32_t, uint32_t, uint32_t, ((uint64_t)x * y >> 32) + z)
TERNARY_OP(mad_hi_s32, uint32_t, int32_t, int32_t, uint32_t, (uint32_t)((int64_t)x *y >> 32) + z)
TERNARY_OP(mad_hi_u64, uint64_t, uint64_t, uint64_t, uint64_t, (uint64_t)((wide_t)x *y >> 64) + z)
TERNARY_OP(mad_hi_s64, uint64_t, int64_t, int64_t, uint64_t, (uint64_t)((signed_wide_t)x *y >> 64) + z)
TERNARY_OP(mad_wide_u16, uint32_t, uint32_t, uint32_t, uint32_t, H(x) * (uint32_t)H(y) + z)
TERNARY_OP(mad_wide_s16, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)(SH(x) * SH(y)) + z)
TERNARY_OP(mad_wide_u32, uint64_t, uint32_t, uint32_t, uint64_t, (uint64_t)x *y + z)
TERNARY_OP(mad_wide_s32, uint64_t, int32_t, int32_t, uint64_t, (uint64_t)((int64_t)x *y) + z)

/* Divides as doubles, four at once.  This is exact: a quotient of two 32-bit numbers that is no whole number is farther from every whole number
 * than the last digit of a double. */
static inline int32_t quotient(int32_t x, int32_t y) {
   const int32_t by = y == 0 || y == -1 ? 1 : y, whole = (int32_t)((double)x / (double)by);
   return y == 0 ? -1 : y == -1 ? (int32_t) - (uint32_t)x : whole;
}

/* The manual leaves open what quotient and remainder a division by zero gives; an H200 gives all ones. */
BINARY_OP(div_u16, uint32_t, uint32_t, uint32_t, H(y) ? H(x) / H(y) : 0xffff)
BINARY_OP(div_s16, uint32_t, uint32_t, uint32_t, SH(y) ? H(SH(x) / SH(y)) : 0xffff)
BINARY_OP(div_u32, uint32_t, uint32_t, uint32_t, y ? x / y : FULL_MASK)
BINARY_OP(div_s32, int32_t, int32_t, int32_t, quotient(x, y))
BINARY_OP(div_u64, uint64_t, uint64_t, uint64_t, y ? x / y : UINT64_MAX)
BINARY_OP(div_s64, int64_t, int64_t, int64_t, y == 0 ? -1 : y == -1 ? (int64_t) - (uint64_t)x : x / y)
BINARY_OP(rem_u16, uint32_t, uint32_t, uint32_t, H(y) ? H(x) % H(y) : 0xffff)
BINARY_OP(rem_s16, uint32_t, uint32_t, uint32_t, SH(y) ? H(SH(x) % SH(y)) : 0xffff)
BINARY_OP(rem_u32, uint32_t, uint32_t, uint32_t, y ? x % y : ~(__typeof__(x))0)
BINARY_OP(rem_s32, int32_t, int32_t, int32_t,
          y == 0 ? -1 : (int32_t)((uint32_t)x - (uint32_t)quotient(x, y) * (uint32_t)y))
BINARY_OP(rem_u64, uint64_t, uint64_t, uint64_t, y ? x % y : ~(__typeof__(x))0)
BINARY_OP(rem_s64, int64_t, int64_t, int64_t, y == 0 ? -1 : y == -1 ? 0 : x % y)

BINARY_OP(min_u16, uint32_t, uint32_t, uint32_t, H(x) < H(y) ? H(x) : H(y))
BINARY_OP(min_s16, uint32_t, uint32_t, uint32_t, SH(x) < SH(y) ? H(x) : H(y))
BINARY_OP(min_u32, uint32_t, uint32_t, uint32_t, x < y ? x : y)
BINARY_OP(min_s32, int32_t, int32_t, int32_t, x < y ? x : y)
BINARY_OP(min_u64, uint64_t, uint64_t, uint64_t, x < y ? x : y)
BINARY_OP(min_s64, int64_t, int64_t, int64_t, x < y ? x : y)
BINARY_OP(max_u16, uint32_t, uint32_t, uint32_t, H(x) > H(y) ? H(x) : H(y))
BINARY_OP(max_s16, uint32_t, uint32_t, uint32_t, SH(x) > SH(y) ? H(x) : H(y))
BINARY_OP(max_u32, uint32_t, uint32_t, uint32_t, x > y ? x : y)
BINARY_OP(max_s32, int32_t, int32_t, int32_t, x > y ? x : y)
BINARY_OP(max_u64, uint64_t, uint64_t, uint64_t, x > y ? x : y)
BINARY_OP(max_s64, int64_t, int64_t, int64_t, x > y ? x : y)

UNARY_OP(abs_s16, uint32_t, uint32_t, H(SH(x) < 0 ? -SH(x) : SH(x)))
UNARY_OP(abs_s32, uint32_t, uint32_t, (int32_t)x < 0 ? -x : x)
UNARY_OP(abs_s64, uint64_t, uint64_t, (int64_t)x < 0 ? -x : x)
UNARY_OP(neg_s16, uint32_t, uint32_t, H(-x))
UNARY_OP(neg_s32, uint32_t, uint32_t, -x)
UNARY_OP(neg_s64, uint64_t, uint64_t, -x)

TERNARY_OP(mad_hi_u16, uint32_t, uint32_t, uint32_t, uint32_t, H(((H(x) * (uint32_t)H(y)) >> 16) + z))
TERNARY_OP(mad_hi_s16, uint32_t, uint32_t, uint32_t, uint32_t, H(((uint32_t)(SH(x) * SH(y)) >> 16) + z))

static inline int32_t saturated_sum(int32_t x, int32_t y) {
   int64_t sum = (int64_t)x + y;
   return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
}

TERNARY_OP(mad_hi_sat_s32, int32_t, int32_t, int32_t, int32_t,
           saturated_sum((int32_t)((int64_t)x *y >> 32), z))

/* 24-bit factors, 48-bit product: lo keeps bits 0 to 31, hi bits 16 to 47. */
static inline uint64_t product24(uint32_t x, uint32_t y, bool is_signed) {
   if (!is_signed)
      return (uint64_t)(x & 0xffffff) * (y & 0xffffff);
   return (uint64_t)((int64_t)((int32_t)(x << 8) >> 8) * ((int32_t)(y << 8) >> 8));
}

BINARY_OP(mul24_hi_u32, uint32_t, uint32_t, uint32_t, product24(x, y, false) >> 16)
BINARY_OP(mul24_hi_s32, uint32_t, uint32_t, uint32_t, product24(x, y, true) >> 16)
TERNARY_OP(mad24_lo_u32, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)product24(x, y, false) + z)
TERNARY_OP(mad24_lo_s32, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)product24(x, y, true) + z)
TERNARY_OP(mad24_hi_u32, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)(product24(x, y, false) >> 16) + z)
TERNARY_OP(mad24_hi_s32, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)(product24(x, y, true) >> 16) + z)
TERNARY_OP(mad24_hi_sat_s32, int32_t, int32_t, int32_t, int32_t,
           saturated_sum((int32_t)(product24((uint32_t)x, (uint32_t)y, true) >> 16), z))

/* Carries: a bit for each lane, which the warp keeps beside its registers (PTX ISA 9.0, 9.7.2).  i->operation
 * says what is done with the flag. */
enum carry {
   CARRY_OUT = 1,
   CARRY_IN = 2,
   CARRY_SUBTRACTS = 4,
   CARRY_LOW = 8,
   CARRY_HIGH = 16,
   CARRY_SIGNED = 32
};

static inline uint64_t multiplied(uint64_t x, uint64_t y, uint32_t operation, uint32_t bits) {
   if (bits == 64) {
      if (operation & CARRY_LOW)
         return x * y;
      return operation & CARRY_SIGNED ? (uint64_t)((signed_wide_t)(int64_t)x * (int64_t)y >> 64)
                                      : (uint64_t)((wide_t)x * y >> 64);
   }
   uint64_t whole = operation & CARRY_SIGNED ? (uint64_t)((int64_t)(int32_t)x * (int32_t)y)
                                             : (uint64_t)(uint32_t)x * (uint32_t)y;
   return operation & CARRY_LOW ? (uint32_t)whole : whole >> 32;
}

/* Definedness and taint of the result, and of the flag where it is one. */
static inline void finish_carry(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   uint32_t defined = warp->defined[i->ai] & warp->defined[i->bi] & warp->defined[i->ci];
   uint64_t taint = warp->taint ? warp->taint[i->ai] | warp->taint[i->bi] | warp->taint[i->ci] : 0;
   if (i->operation & CARRY_IN) {
      defined &= warp->carry_defined;
      taint |= warp->carry_taint;
   }
   if (i->operation & CARRY_OUT) {
      warp->carry_defined = (warp->carry_defined & ~mask) | (defined & mask);
      warp->carry_taint = taint | (mask == FULL_MASK ? 0 : warp->carry_taint);
   }
   set_defined(warp, i->di, defined, mask);
   set_taint(warp, i->di, taint, mask);
   if (warp->valid)
      warp->valid[i->di] &= ~mask;
}

static inline void with_carry(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                              uint32_t bits) {
   const bool multiplies = i->operation & (CARRY_LOW | CARRY_HIGH),
              subtracts = i->operation & CARRY_SUBTRACTS;
   const uint64_t ones = bits == 64 ? ~0ull : FULL_MASK;
   uint32_t carried = 0;
   for (uint32_t l = 0; l < LANES; l++) {
      if (!(mask >> l & 1))
         continue;
      uint64_t x = bits == 64 ? LANES_OF(uint64_t, i->a)[l] : LANES_OF(uint32_t, i->a)[l];
      uint64_t y = bits == 64 ? LANES_OF(uint64_t, i->b)[l] : LANES_OF(uint32_t, i->b)[l];
      if (multiplies) {
         x = multiplied(x, y, i->operation, bits);
         y = bits == 64 ? LANES_OF(uint64_t, i->c)[l] : LANES_OF(uint32_t, i->c)[l];
      }
      wide_t in = i->operation & CARRY_IN ? warp->carry >> l & 1 : 0;
      wide_t sum = subtracts ? (wide_t)x - y - in : (wide_t)x + y + in;
      carried |= (uint32_t)((sum >> bits & 1) != 0) << l;
      if (bits == 64)
         LANES_OF(uint64_t, i->d)[l] = (uint64_t)(sum & ones);
      else
         LANES_OF(uint32_t, i->d)[l] = (uint32_t)(sum & ones);
   }
   if (i->operation & CARRY_OUT)
      warp->carry = (warp->carry & ~mask) | (carried & mask);
   finish_carry(warp, i, mask);
}

OP(carry_32) {
   with_carry(warp, i, mask, 32);
}
OP(carry_64) {
   with_carry(warp, i, mask, 64);
}

TERNARY_OP(sad_u16, uint32_t, uint32_t, uint32_t, uint32_t, H(z + (H(x) > H(y) ? x - y : y - x)))
TERNARY_OP(sad_s16, uint32_t, uint32_t, uint32_t, uint32_t, H(z + (SH(x) > SH(y) ? x - y : y - x)))
TERNARY_OP(sad_u64, uint64_t, uint64_t, uint64_t, uint64_t, z + (x > y ? x - y : y - x))
TERNARY_OP(sad_s64, uint64_t, uint64_t, uint64_t, uint64_t, z + ((int64_t)x > (int64_t)y ? x - y : y - x))
TERNARY_OP(sad_u32, uint32_t, uint32_t, uint32_t, uint32_t, z + (x > y ? x - y : y - x))
TERNARY_OP(sad_s32, uint32_t, int32_t, int32_t, uint32_t,
           z + (x > y ? (uint32_t)x - (uint32_t)y : (uint32_t)y - (uint32_t)x))

static inline uint32_t dot4(uint32_t x, uint32_t y, uint32_t z, bool signed_x, bool signed_y) {
   for (int k = 0; k < 4; k++) {
      int32_t p = signed_x ? (int8_t)(x >> 8 * k) : (uint8_t)(x >> 8 * k);
      int32_t q = signed_y ? (int8_t)(y >> 8 * k) : (uint8_t)(y >> 8 * k);
      z += (uint32_t)(p * q);
   }
   return z;
}

static inline uint32_t dot2(uint32_t x, uint32_t y, uint32_t z, bool signed_x, bool signed_y, int high) {
   for (int k = 0; k < 2; k++) {
      int32_t p = signed_x ? (int16_t)(x >> 16 * k) : (uint16_t)(x >> 16 * k);
      uint32_t byte = y >> (16 * high + 8 * k);
      int32_t q = signed_y ? (int8_t)byte : (uint8_t)byte;
      z += (uint32_t)(p * q);
   }
   return z;
}

TERNARY_OP(dp4a_uu, uint32_t, uint32_t, uint32_t, uint32_t, dot4(x, y, z, false, false))
TERNARY_OP(dp4a_us, uint32_t, uint32_t, uint32_t, uint32_t, dot4(x, y, z, false, true))
TERNARY_OP(dp4a_su, uint32_t, uint32_t, uint32_t, uint32_t, dot4(x, y, z, true, false))
TERNARY_OP(dp4a_ss, uint32_t, uint32_t, uint32_t, uint32_t, dot4(x, y, z, true, true))
TERNARY_OP(dp2a_lo_uu, uint32_t, uint32_t, uint32_t, uint32_t, dot2(x, y, z, false, false, 0))
TERNARY_OP(dp2a_lo_us, uint32_t, uint32_t, uint32_t, uint32_t, dot2(x, y, z, false, true, 0))
TERNARY_OP(dp2a_lo_su, uint32_t, uint32_t, uint32_t, uint32_t, dot2(x, y, z, true, false, 0))
TERNARY_OP(dp2a_lo_ss, uint32_t, uint32_t, uint32_t, uint32_t, dot2(x, y, z, true, true, 0))
TERNARY_OP(dp2a_hi_uu, uint32_t, uint32_t, uint32_t, uint32_t, dot2(x, y, z, false, false, 1))
TERNARY_OP(dp2a_hi_us, uint32_t, uint32_t, uint32_t, uint32_t, dot2(x, y, z, false, true, 1))
TERNARY_OP(dp2a_hi_su, uint32_t, uint32_t, uint32_t, uint32_t, dot2(x, y, z, true, false, 1))
TERNARY_OP(dp2a_hi_ss, uint32_t, uint32_t, uint32_t, uint32_t, dot2(x, y, z, true, true, 1))
