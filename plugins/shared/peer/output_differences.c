/* Finds where two outputs differ most.  No state; any thread. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "seed_peer.h"

#define NEARBY 4096u /* elements: a tile or a few rows */

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

static size_t width_of(uint32_t dtype) {
   return dtype == RKB_F64 || dtype == RKB_I64     ? 8
          : dtype == RKB_F32 || dtype == RKB_I32   ? 4
          : dtype == RKB_F16 || dtype == RKB_BF16  ? 2
                                                   : 1;
}

#define EACH(type, expression)                                                                               \
   for (uint64_t i = 0; i < count; i++) {                                                                    \
      type x;                                                                                                \
      memcpy(&x, (const char *)from + i * sizeof x, sizeof x);                                               \
      to[i] = expression;                                                                                    \
   }                                                                                                         \
   return

static double of_bfloat(uint16_t bits) {
   const uint32_t wide = (uint32_t)bits << 16;
   float value;
   memcpy(&value, &wide, sizeof value);
   return (double)value;
}

static void take_values(uint32_t dtype, const void *from, uint64_t count, double *to) {
   switch (dtype) {
   case RKB_F16:
      EACH(uint16_t, small_float(x, 5, 10, true));
   case RKB_BF16:
      EACH(uint16_t, of_bfloat(x));
   case RKB_F32:
      EACH(float, (double)x);
   case RKB_F64:
      EACH(double, x);
   case RKB_I32:
      EACH(int32_t, x);
   case RKB_I64:
      EACH(int64_t, (double)x);
   case RKB_I8:
      EACH(int8_t, x);
   case RKB_E4M3:
      EACH(uint8_t, small_float(x, 4, 3, false));
   case RKB_E5M2:
      EACH(uint8_t, small_float(x, 5, 2, true));
   default:
      EACH(uint8_t, x);
   }
}

/* The first of equal ones stays, so that the result does not depend on where pieces end. */
static void keep(differences_t *d, uint32_t way, const difference_t *one) {
   difference_t *kept = d->kept[way];
   uint32_t *count = &d->count[way], least = 0;
   if (*count < DIFFERENCES_KEPT) {
      kept[(*count)++] = *one;
   } else if (one->score > d->least[way]) {
      for (uint32_t n = 1; n < *count; n++)
         if (kept[n].score < kept[least].score || (kept[n].score == kept[least].score && kept[n].element > kept[least].element))
            least = n;
      kept[least] = *one;
   }
   if (*count == DIFFERENCES_KEPT) {
      d->least[way] = kept[0].score;
      for (uint32_t n = 1; n < *count; n++)
         d->least[way] = kept[n].score < d->least[way] ? kept[n].score : d->least[way];
   }
}

/* How much two values differ: zero where they are equal or both NaN, else infinity where one is not finite. */
static double distance(double x, double y) {
   if (x == y || (isnan(x) && isnan(y)))
      return 0;
   return isfinite(x) && isfinite(y) ? fabs(x - y) : INFINITY;
}

/* Adds at most NEARBY elements, the first ones of both buffers, which have the number first and on. */
static void add_nearby(differences_t *d, uint32_t dtype, uint64_t first, uint64_t count, const char *one, const char *other) {
   double x[NEARBY], y[NEARBY], squares = 0;
   const size_t width = width_of(dtype);
   if (memcmp(one, other, count * width) == 0)
      return;
   take_values(dtype, one, count, x);
   take_values(dtype, other, count, y);
   for (uint64_t i = 0; i < count; i++)
      squares += isfinite(y[i]) ? y[i] * y[i] : 0;
   const double usual = sqrt(squares / (double)count);
   for (uint64_t i = 0; i < count; i++) {
      const double apart = distance(x[i], y[i]), larger = fmax(fabs(x[i]), fabs(y[i]));
      if (apart <= d->least[0] && apart <= d->least[1] * larger && apart <= d->least[2] * usual)
         continue;
      difference_t found = {.score = apart, .element = first + i};
      memcpy(&found.bits, one + i * width, width);
      if (apart == 0)
         continue;
      keep(d, 0, &found);
      found.score = isfinite(apart) ? apart / larger : apart;
      keep(d, 1, &found);
      found.score = usual > 0 && isfinite(apart) ? apart / usual : apart;
      keep(d, 2, &found);
   }
}

void differences_add(differences_t *d, uint32_t dtype, uint64_t first, uint64_t count, const void *one, const void *other) {
   const size_t width = width_of(dtype);
   for (uint64_t begin = 0; begin < count; begin += NEARBY)
      add_nearby(d, dtype, first + begin, begin + NEARBY < count ? NEARBY : count - begin, (const char *)one + begin * width,
                 (const char *)other + begin * width);
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
