/* Results of operations on bits, and of high halves of products, for the numbers by which a kernel decides (conditions.h).  No state. */
#include "machine/decode/conditions.h"

static uint64_t high_half(uint64_t a, uint64_t b, uint32_t bits, bool is_signed) {
   if (bits == 64)
      return is_signed ? (uint64_t)((__int128)(int64_t)a * (int64_t)b >> 64)
                       : (uint64_t)((unsigned __int128)a * b >> 64);
   return is_signed ? (uint64_t)((int64_t)a * (int64_t)b >> bits) : a * b >> bits;
}

static uint64_t reversed(uint64_t value, uint32_t bits) {
   uint64_t result = 0;
   for (uint32_t n = 0; n < bits; n++)
      result |= (value >> n & 1) << (bits - 1 - n);
   return result;
}

/* PTX ISA, bfe: from a position on, so many bits; what lies past the number is its sign, or 0. */
static uint64_t field(uint64_t value, uint32_t position, uint32_t length, uint32_t bits, bool is_signed) {
   const uint32_t last = position + length - 1 < bits - 1 ? position + length - 1 : bits - 1;
   const bool sign = is_signed && length && value >> last & 1;
   uint64_t result = 0;
   for (uint32_t n = 0; n < bits; n++)
      result |= (uint64_t)(n < length && position + n < bits ? value >> (position + n) & 1 : sign) << n;
   return result;
}

static uint64_t bytes_of(uint64_t a, uint64_t b, uint64_t selection) {
   const uint64_t from = (a & UINT32_MAX) | b << 32;
   uint64_t result = 0;
   for (uint32_t n = 0; n < 4; n++) {
      const uint64_t which = selection >> 4 * n, byte = from >> 8 * (which & 7) & 0xff;
      result |= (which & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * n;
   }
   return result;
}

static uint64_t by_table(uint64_t a, uint64_t b, uint64_t c, uint64_t table) {
   uint64_t result = 0;
   for (uint32_t n = 0; n < 32; n++)
      result |= (table >> ((a >> n & 1) << 2 | (b >> n & 1) << 1 | (c >> n & 1)) & 1) << n;
   return result;
}

bool machine_condition_apply_bits(const struct step *step, const uint64_t operands[4], uint64_t *result) {
   const uint64_t a = operands[0], b = operands[1], c = operands[2];
   const uint32_t bits = 8 * ptx_type_bytes(step->type);
   const uint64_t all = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
   const bool is_signed = ptx_type_is_signed(step->from);
   switch (step->operation) {
   case MULTIPLY_HIGH:
      *result = high_half(a, b, bits, is_signed);
      return true;
   case ADD_HIGH:
      *result = high_half(a, b, bits, is_signed) + c;
      return true;
   case LEADING_ZEROS:
      *result = a & all ? (uint64_t)__builtin_clzll(a & all) - (64 - bits) : bits;
      return true;
   case REVERSED:
      *result = reversed(a, bits);
      return true;
   case FIELD:
      *result = field(a, b & 0xff, c & 0xff, bits, is_signed);
      return true;
   case BYTES:
      *result = bytes_of(a, b & UINT32_MAX, c);
      return true;
   case BY_TABLE:
      *result = by_table(a, b, c, operands[3]);
      return true;
   case FUNNEL_LEFT:
      *result = ((b << 32 | (a & UINT32_MAX)) << (c & 31)) >> 32;
      return true;
   case FUNNEL_RIGHT:
      *result = (b << 32 | (a & UINT32_MAX)) >> (c & 31);
      return true;
   default:
      return false;
   }
}
