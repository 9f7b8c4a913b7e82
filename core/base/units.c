/* Durations, byte counts and numbers as people write them.  Parsing is strict: the whole text must match, without spaces,
 * independent of the locale.  Any thread. */
#include "base/units.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct unit {
   const char *name;
   uint64_t scale;
} unit_t;

static const unit_t duration_units[] = {
   {"ns", 1},
   {"us", 1000},
   {"ms", 1000000},
   {"s", 1000000000},
   {"m", UINT64_C(60) * 1000000000},
   {"h", UINT64_C(3600) * 1000000000},
   {NULL, 0},
};

static const unit_t byte_units[] = {
   {"", 1},
   {"B", 1},
   {"KiB", UINT64_C(1) << 10},
   {"MiB", UINT64_C(1) << 20},
   {"GiB", UINT64_C(1) << 30},
   {"TiB", UINT64_C(1) << 40},
   {NULL, 0},
};

static bool is_digit(char c) {
   return c >= '0' && c <= '9';
}

/* Parses digits [. digits] unit.  A fraction of the smallest unit is dropped. */
static bool parse_scaled(const char *text, const unit_t *units, uint64_t *value) {
   uint64_t whole = 0, fraction = 0, tenths = 1;
   if (!is_digit(*text))
      return false;
   for (; is_digit(*text); text++) {
      if (__builtin_mul_overflow(whole, 10u, &whole) ||
          __builtin_add_overflow(whole, (uint64_t)(*text - '0'), &whole))
         return false;
   }
   if (*text == '.') {
      text++;
      if (!is_digit(*text))
         return false;
      for (; is_digit(*text); text++) {
         if (tenths > UINT64_C(1000000000000))
            return false;
         fraction = fraction * 10 + (uint64_t)(*text - '0');
         tenths *= 10;
      }
   }
   while (units->name && strcmp(units->name, text) != 0)
      units++;
   if (!units->name)
      return false;
   unsigned __int128 total =
      (unsigned __int128)whole * units->scale + (unsigned __int128)fraction * units->scale / tenths;
   if (total > UINT64_MAX)
      return false;
   *value = (uint64_t)total;
   return true;
}

bool rkb_parse_duration(const char *text, uint64_t *nanoseconds) {
   if (strcmp(text, "0") == 0) {
      *nanoseconds = 0;
      return true;
   }
   return parse_scaled(text, duration_units, nanoseconds);
}

bool rkb_parse_bytes(const char *text, uint64_t *bytes) {
   return parse_scaled(text, byte_units, bytes);
}

static int digit_value(char c, unsigned base) {
   int value = -1;
   if (is_digit(c))
      value = c - '0';
   else if (c >= 'a' && c <= 'f')
      value = c - 'a' + 10;
   else if (c >= 'A' && c <= 'F')
      value = c - 'A' + 10;
   return value < (int)base ? value : -1;
}

bool rkb_parse_int(const char *text, int64_t *value) {
   bool negative = *text == '-';
   unsigned base = 10;
   uint64_t magnitude = 0;
   text += negative;
   if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
      base = 16;
      text += 2;
   } else if (text[0] == '0' && text[1] != '\0') {
      return false; /* 010 is refused: some programs read it as eight, others as ten */
   }
   if (*text == '\0')
      return false;
   for (; *text; text++) {
      int digit = digit_value(*text, base);
      if (digit < 0 || __builtin_mul_overflow(magnitude, base, &magnitude) ||
          __builtin_add_overflow(magnitude, (uint64_t)digit, &magnitude))
         return false;
   }
   if (magnitude > (uint64_t)INT64_MAX + negative)
      return false;
   *value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
   return true;
}

/* Accepts [sign] digits [. digits] [e [sign] digits] with a digit on at least one side of the point. */
static bool looks_real(const char *text) {
   size_t digits = 0;
   if (*text == '-' || *text == '+')
      text++;
   for (; is_digit(*text); text++)
      digits++;
   if (*text == '.')
      text++;
   for (; is_digit(*text); text++)
      digits++;
   if (!digits)
      return false;
   if (*text == 'e' || *text == 'E') {
      text++;
      if (*text == '-' || *text == '+')
         text++;
      if (!is_digit(*text))
         return false;
      while (is_digit(*text))
         text++;
   }
   return *text == '\0';
}

bool rkb_parse_real(const char *text, double *value) {
   if (!looks_real(text))
      return false;
   locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
   if (!c_locale)
      return false;
   double parsed = strtod_l(text, NULL, c_locale);
   freelocale(c_locale);
   if (!isfinite(parsed))
      return false;
   *value = parsed;
   return true;
}

/* Writes three significant digits. */
static void format_scaled(double value, const char *unit, char *out, size_t size) {
   int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
   snprintf(out, size, "%.*f %s", decimals, value, unit);
}

void rkb_format_duration(uint64_t nanoseconds, char *out, size_t size) {
   uint64_t seconds = nanoseconds / 1000000000;
   if (nanoseconds < 1000)
      snprintf(out, size, "%u ns", (unsigned)nanoseconds);
   else if (nanoseconds < 1000000)
      format_scaled((double)nanoseconds / 1e3, "us", out, size);
   else if (nanoseconds < 1000000000)
      format_scaled((double)nanoseconds / 1e6, "ms", out, size);
   else if (seconds < 60)
      format_scaled((double)nanoseconds / 1e9, "s", out, size);
   else if (seconds < 3600)
      snprintf(out, size, "%u m %02u s", (unsigned)(seconds / 60), (unsigned)(seconds % 60));
   else
      snprintf(out, size, "%llu h %02u m", (unsigned long long)(seconds / 3600),
               (unsigned)(seconds / 60 % 60));
}

void rkb_format_bytes(uint64_t bytes, char *out, size_t size) {
   static const char *const names[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
   if (bytes < 1024) {
      snprintf(out, size, "%u B", (unsigned)bytes);
      return;
   }
   double value = (double)bytes / 1024;
   unsigned unit = 0;
   for (; value >= 1023.5 && unit + 1 < sizeof names / sizeof names[0]; unit++)
      value /= 1024;
   snprintf(out, size, "%.*f %s", value < 99.95 ? 1 : 0, value, names[unit]);
}
