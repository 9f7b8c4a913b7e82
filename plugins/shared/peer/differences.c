/* Where two outputs differ most.  No state; any thread. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "peer.h"

#define NEARBY UINT64_C(4096) /* elements: a tile or a few rows */

static double small_float(uint32_t bits, int exponent_bits, int fraction_bits, bool infinities) {
   const uint32_t most = (1u << exponent_bits) - 1, exponent = bits >> fraction_bits & most,
                  fraction = bits & ((1u << fraction_bits) - 1);
   const int bias = (1 << (exponent_bits - 1)) - 1;
   const double sign = bits >> (exponent_bits + fraction_bits) & 1 ? -1 : 1;
   if (exponent == most && (infinities || fraction == (1u << fraction_bits) - 1))
      return fraction ? NAN : sign * INFINITY;
   if (exponent == 0)
      return sign * ldexp((double)fraction, 1 - bias - fraction_bits);
   return sign * ldexp((double)(fraction | 1u << fraction_bits), (int)exponent - bias - fraction_bits);
}

static double element_value(uint32_t dtype, const void *data, uint64_t i, uint64_t *bits) {
   union {
      uint64_t bits;
      float f32;
      double f64;
      uint32_t u32;
      int32_t i32;
      int64_t i64;
      uint16_t u16;
      uint8_t u8;
      int8_t i8;
   } v = {.bits = 0};
   const size_t width = dtype == RKB_F64 || dtype == RKB_I64   ? 8
                        : dtype == RKB_F32 || dtype == RKB_I32 ? 4
                        : dtype == RKB_F16 || dtype == RKB_BF16 ? 2
                                                                : 1;
   memcpy(&v, (const char *)data + i * width, width);
   *bits = v.bits;
   switch (dtype) {
   case RKB_F16:
      return small_float(v.u16, 5, 10, true);
   case RKB_BF16:
      v.u32 = (uint32_t)v.u16 << 16;
      return (double)v.f32;
   case RKB_F32:
      return (double)v.f32;
   case RKB_F64:
      return v.f64;
   case RKB_I32:
      return v.i32;
   case RKB_I64:
      return (double)v.i64;
   case RKB_I8:
      return v.i8;
   case RKB_E4M3:
      return small_float(v.u8, 4, 3, false);
   case RKB_E5M2:
      return small_float(v.u8, 5, 2, true);
   default:
      return v.u8;
   }
}

/* The first of equal ones stays, so that the result is the same however pieces are cut. */
static void keep(differences_t *d, uint32_t way, const difference_t *one) {
   difference_t *kept = d->kept[way];
   uint32_t *count = &d->count[way], least = 0;
   if (*count < DIFFERENCES_KEPT) {
      kept[(*count)++] = *one;
      return;
   }
   for (uint32_t n = 1; n < *count; n++)
      if (kept[n].score < kept[least].score || (kept[n].score == kept[least].score && kept[n].element > kept[least].element))
         least = n;
   if (one->score > kept[least].score)
      kept[least] = *one;
}

/* How much two values differ: nothing where both are no number, without end where one is none. */
static double distance(double x, double y) {
   if (x == y || (isnan(x) && isnan(y)))
      return 0;
   return isfinite(x) && isfinite(y) ? fabs(x - y) : INFINITY;
}

static void add_nearby(differences_t *d, uint32_t dtype, uint64_t first, uint64_t begin, uint64_t end, const void *one,
                       const void *other) {
   double squares = 0;
   uint64_t bits, ignored;
   for (uint64_t i = begin; i < end; i++) {
      const double y = element_value(dtype, other, i, &ignored);
      squares += isfinite(y) ? y * y : 0;
   }
   const double usual = sqrt(squares / (double)(end - begin));
   for (uint64_t i = begin; i < end; i++) {
      const double x = element_value(dtype, one, i, &bits), y = element_value(dtype, other, i, &ignored),
                   apart = distance(x, y), larger = fmax(fabs(x), fabs(y));
      if (apart == 0)
         continue;
      keep(d, 0, &(difference_t){apart, first + i, bits});
      keep(d, 1, &(difference_t){isfinite(apart) ? apart / larger : apart, first + i, bits});
      keep(d, 2, &(difference_t){usual > 0 && isfinite(apart) ? apart / usual : apart, first + i, bits});
   }
}

void differences_add(differences_t *d, uint32_t dtype, uint64_t first, uint64_t count, const void *one, const void *other) {
   for (uint64_t begin = 0; begin < count; begin += NEARBY)
      add_nearby(d, dtype, first, begin, begin + NEARBY < count ? begin + NEARBY : count, one, other);
}

static int by_element(const void *left, const void *right) {
   const uint64_t x = ((const difference_t *)left)->element, y = ((const difference_t *)right)->element;
   return x < y ? -1 : x > y;
}

uint32_t differences_sorted(const differences_t *d, difference_t *out) {
   uint32_t count = 0, left = 0;
   for (uint32_t way = 0; way < DIFFERENCES_WAYS; way++)
      for (uint32_t n = 0; n < d->count[way]; n++)
         out[count++] = d->kept[way][n];
   qsort(out, count, sizeof *out, by_element);
   for (uint32_t n = 0; n < count; n++)
      if (left == 0 || out[n].element != out[left - 1].element)
         out[left++] = out[n];
   return left;
}
