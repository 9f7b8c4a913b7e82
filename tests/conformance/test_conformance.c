/* Operands, PTX and truth of the conformance set.  Owns nothing; one thread. */
#include "conformance.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static const struct {
   const char *name;
   enum operand_type type;
   uint32_t bytes;
   const char *declare; /* register type */
   const char *access;  /* of ld and st */
} types[] = {
   {"u16", TYPE_U16, 2, "b16", "u16"},     {"s16", TYPE_S16, 2, "b16", "u16"},
   {"u32", TYPE_U32, 4, "b32", "u32"},     {"s32", TYPE_S32, 4, "b32", "u32"},
   {"u64", TYPE_U64, 8, "b64", "u64"},     {"s64", TYPE_S64, 8, "b64", "u64"},
   {"f16", TYPE_F16, 2, "b16", "b16"},     {"f16x2", TYPE_F16X2, 4, "b32", "b32"},
   {"bf16", TYPE_BF16, 2, "b16", "b16"},   {"bf16x2", TYPE_BF16X2, 4, "b32", "b32"},
   {"f32", TYPE_F32, 4, "f32", "f32"},     {"f64", TYPE_F64, 8, "f64", "f64"},
   {"count", TYPE_COUNT, 4, "b32", "u32"},
};

static int type_index(enum operand_type type) {
   for (size_t i = 0; i < sizeof types / sizeof *types; i++)
      if (types[i].type == type)
         return (int)i;
   return 0;
}

uint32_t operand_bytes(enum operand_type type) {
   return type == TYPE_NONE ? 0 : types[type_index(type)].bytes;
}

static enum operand_type type_named(const char *name, size_t length) {
   for (size_t i = 0; i < sizeof types / sizeof *types; i++)
      if (strlen(types[i].name) == length && memcmp(types[i].name, name, length) == 0)
         return types[i].type;
   return TYPE_NONE;
}

bool conformance_parse(const char *line, uint32_t number, struct instruction *out, const char **message) {
   *message = NULL;
   if (line[0] == '#' || line[strspn(line, " \t\r\n")] == '\0')
      return false;
   memset(out, 0, sizeof *out);
   out->line = number;
   const char *bar = strstr(line, " | "), *second = bar ? strstr(bar + 3, " | ") : NULL;
   if (!second) {
      *message = "want 'types | exact or near:NAME | PTX'";
      return false;
   }
   for (const char *at = line; at < bar;) {
      at += strspn(at, " ");
      size_t length = strcspn(at, " ");
      enum operand_type type = length > 2 && at[1] == '=' ? type_named(at + 2, length - 2) : TYPE_NONE;
      if (type == TYPE_NONE || !strchr("dabc", at[0])) {
         *message = "want operands such as d=f32 a=f32";
         return false;
      }
      if (at[0] == 'd')
         out->result = type;
      else
         out->operand[at[0] - 'a'] = type;
      at += length;
   }
   const char *check = bar + 3;
   size_t check_length = (size_t)(second - check);
   if (check_length > 5 && memcmp(check, "near:", 5) == 0 && check_length - 5 < sizeof out->nearly)
      memcpy(out->nearly, check + 5, check_length - 5);
   else if (check_length != 5 || memcmp(check, "exact", 5) != 0) {
      *message = "want exact or near:NAME";
      return false;
   }
   size_t length = strcspn(second + 3, "\r\n");
   if (length >= sizeof out->text || out->result == TYPE_NONE) {
      *message = "the PTX is too long, or there is no d=";
      return false;
   }
   memcpy(out->text, second + 3, length);
   return true;
}

/* Values where arithmetic tends to go wrong: zeros, ones, subnormals, the largest, infinities, NaNs, ties, type limits. */
static const uint32_t edges_f32[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x00000001, 0x80000001,
                                     0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
                                     0x7fc00000, 0x7f800001, 0x3f000000, 0x3fc00000, 0x4b000001, 0x4f000000,
                                     0xcf000000, 0x5f000000, 0x42fe0000, 0xc2fc0000, 0x3effffff};
static const uint64_t edges_f64[] = {0,
                                     0x8000000000000000,
                                     0x3ff0000000000000,
                                     0xbff0000000000000,
                                     1,
                                     0x000fffffffffffff,
                                     0x0010000000000000,
                                     0x7fefffffffffffff,
                                     0x7ff0000000000000,
                                     0xfff0000000000000,
                                     0x7ff8000000000000,
                                     0x7ff0000000000001,
                                     0x3fe0000000000000,
                                     0x3ff8000000000000,
                                     0x41dfffffffc00000,
                                     0x41e0000000000000,
                                     0xc1e0000000000000,
                                     0x43e0000000000000,
                                     0x47efffffe0000000,
                                     0x36a0000000000000,
                                     0x380fffffffffffff,
                                     0x40effc0000000000,
                                     0x3e70000000000000};
static const uint16_t edges_f16[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x8001, 0x03ff, 0x0400,
                                     0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0x3800, 0x3e00,
                                     0x6400, 0x6401, 0x57ff, 0xd800, 0x1400, 0x3555, 0x4248};
static const uint16_t edges_bf16[] = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x0001, 0x8001, 0x007f, 0x0080,
                                      0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0x3f00, 0x3fc0,
                                      0x4b00, 0x4f00, 0xcf00, 0x5f00, 0x42fe, 0xc2fc, 0x3eaa};
static const uint64_t edges_integer[] = {0,
                                         1,
                                         2,
                                         3,
                                         31,
                                         32,
                                         33,
                                         63,
                                         64,
                                         0x7f,
                                         0x80,
                                         0xff,
                                         0x7fff,
                                         0x8000,
                                         0xffff,
                                         0x7fffffff,
                                         0x80000000,
                                         0xffffffff,
                                         0x100000000,
                                         0x7fffffffffffffff,
                                         0x8000000000000000,
                                         0xffffffffffffffff,
                                         0xaaaaaaaaaaaaaaaa};
#define EDGE_VALUES 23
_Static_assert(sizeof edges_f32 / sizeof *edges_f32 == EDGE_VALUES &&
                  sizeof edges_f64 / sizeof *edges_f64 == EDGE_VALUES &&
                  sizeof edges_f16 / sizeof *edges_f16 == EDGE_VALUES &&
                  sizeof edges_bf16 / sizeof *edges_bf16 == EDGE_VALUES &&
                  sizeof edges_integer / sizeof *edges_integer == EDGE_VALUES,
               "one edge list is short");

static uint64_t edge(enum operand_type type, uint32_t index) {
   switch (type) {
   case TYPE_F32:
      return edges_f32[index];
   case TYPE_F64:
      return edges_f64[index];
   case TYPE_F16:
      return edges_f16[index];
   case TYPE_BF16:
      return edges_bf16[index];
   case TYPE_F16X2:
      return edges_f16[index] | (uint32_t)edges_f16[(index * 7 + 5) % EDGE_VALUES] << 16;
   case TYPE_BF16X2:
      return edges_bf16[index] | (uint32_t)edges_bf16[(index * 7 + 5) % EDGE_VALUES] << 16;
   case TYPE_COUNT:
      return index * 3;
   default:
      return edges_integer[index];
   }
}

/* Makes a float of so many bits and mantissa bits.  A third are any bit pattern, a third of medium size (so
 * that sums interact), a third small multiples of a quarter (ties, exact integers). */
static uint64_t random_float(uint64_t r, uint32_t bits, uint32_t mantissa) {
   uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1, raw = r & mask;
   uint64_t sign = raw & (UINT64_C(1) << (bits - 1)), fraction = raw & ((UINT64_C(1) << mantissa) - 1);
   uint32_t exponent_bits = bits - 1 - mantissa, bias = (1u << (exponent_bits - 1)) - 1;
   uint64_t high = XXH64(&r, sizeof r, 7);
   switch (high % 3) {
   case 0:
      return raw;
   case 1:
      return sign | (uint64_t)(bias - 6 + (high >> 8) % 12) << mantissa | fraction;
   default: {
      uint64_t quarters = (high >> 8) % 1024; /* 0 to 255.75 */
      if (quarters == 0)
         return sign;
      uint32_t top = 63 - (uint32_t)__builtin_clzll(quarters);
      uint64_t scaled = top <= mantissa ? quarters << (mantissa - top) : quarters >> (top - mantissa);
      return sign | (uint64_t)(bias + top - 2) << mantissa | (scaled & ((UINT64_C(1) << mantissa) - 1));
   }
   }
}

static uint64_t random_integer(uint64_t r, uint32_t bits) {
   uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1, high = XXH64(&r, sizeof r, 11);
   switch (high % 3) {
   case 0:
      return r & mask;
   case 1:
      return ((r % 129) - 64) & mask;
   default:
      return ((UINT64_C(1) << (high >> 8) % bits) + (high >> 16) % 3 - 1) & mask;
   }
}

static uint64_t random_operand(enum operand_type type, uint64_t r) {
   switch (type) {
   case TYPE_F32:
      return random_float(r, 32, 23);
   case TYPE_F64:
      return random_float(r, 64, 52);
   case TYPE_F16:
      return random_float(r, 16, 10);
   case TYPE_BF16:
      return random_float(r, 16, 7);
   case TYPE_F16X2:
      return random_float(r, 16, 10) | random_float(r >> 20, 16, 10) << 16;
   case TYPE_BF16X2:
      return random_float(r, 16, 7) | random_float(r >> 20, 16, 7) << 16;
   case TYPE_COUNT:
      return r % 71;
   default:
      return random_integer(r, operand_bytes(type) * 8);
   }
}

uint64_t conformance_operand(const struct instruction *in, uint32_t which, uint32_t i) {
   enum operand_type type = in->operand[which];
   uint32_t bytes = operand_bytes(type);
   if (bytes == 0)
      return 0;
   uint64_t value;
   if (i < CONFORMANCE_EDGES) {
      /* Steps coprime to 23 walk through combinations: 512 of one list, of 529 pairs, of 12,167 triples. */
      uint32_t index = which == 0 ? i : which == 1 ? i / EDGE_VALUES : i / EDGE_VALUES * 5 + i * 3;
      value = edge(type, index % EDGE_VALUES);
   } else {
      uint64_t counter[2] = {i, which};
      value = random_operand(type, XXH64(counter, sizeof counter, XXH64(in->text, strlen(in->text), 1)));
   }
   return bytes == 8 ? value : value & ((UINT64_C(1) << bytes * 8) - 1);
}

size_t conformance_ptx(const struct instruction *in, char *out, size_t size) {
   static const char *const address[5] = {"a", "b", "c", "d", "slots"};
   int n = snprintf(out, size, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry conformance(");
#define EMIT(...) n += snprintf(out + n, (size_t)n < size ? size - (size_t)n : 0, __VA_ARGS__)
   for (int i = 0; i < 5; i++)
      EMIT("%s.param .u64 p_%s", i ? ", " : "", address[i]);
   EMIT(
      ")\n{\n .reg .pred %%p<5>; .reg .b16 %%h<5>; .reg .b32 %%t<5>; .reg .b64 %%w<5>; .reg .b64 %%slot, %%at;\n"
      " .reg .b32 %%i, %%n, %%k;\n .reg .%s %%d;\n",
      types[type_index(in->result)].declare);
   for (int o = 0; o < 3; o++)
      if (in->operand[o])
         EMIT(" .reg .%s %%%s;\n", types[type_index(in->operand[o])].declare, address[o]);
   EMIT(
      " mov.u32 %%i, %%ctaid.x; mov.u32 %%n, %%ntid.x; mov.u32 %%k, %%tid.x; mad.lo.u32 %%i, %%i, %%n, %%k;\n"
      " ld.param.u64 %%slot, [p_slots]; cvta.to.global.u64 %%slot, %%slot; mad.wide.u32 %%slot, %%i, 16, %%slot;\n");
   for (int o = 0; o < 3; o++)
      if (in->operand[o]) {
         int t = type_index(in->operand[o]);
         EMIT(
            " ld.param.u64 %%at, [p_%s]; cvta.to.global.u64 %%at, %%at; mad.wide.u32 %%at, %%i, %u, %%at; ld.global.%s %%%s, [%%at];\n",
            address[o], types[t].bytes, types[t].access, address[o]);
      }
   int d = type_index(in->result);
   EMIT(
      " %s\n ld.param.u64 %%at, [p_d]; cvta.to.global.u64 %%at, %%at; mad.wide.u32 %%at, %%i, %u, %%at; st.global.%s [%%at], %%d;\n ret;\n}\n",
      in->text, types[d].bytes, types[d].access);
#undef EMIT
   return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

uint64_t conformance_hash(const void *results, size_t bytes) {
   return XXH64(results, bytes, 0);
}

static double half_value(uint16_t h) {
   int exponent = h >> 10 & 31, fraction = h & 1023;
   double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                      : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                     : ldexp(fraction, -24);
   return h & 0x8000 ? -magnitude : magnitude;
}

double conformance_value(enum operand_type type, uint64_t bits) {
   uint32_t low = (uint32_t)bits;
   float f;
   double d;
   switch (type) {
   case TYPE_F16:
      return half_value((uint16_t)bits);
   case TYPE_BF16:
      low <<= 16; /* fall through */
   case TYPE_F32:
      memcpy(&f, &low, sizeof f);
      return f;
   case TYPE_F64:
      memcpy(&d, &bits, sizeof d);
      return d;
   default:
      return (double)bits;
   }
}

static double units(double truth, int mantissa, int least_exponent) {
   int exponent;
   if (truth == 0)
      return ldexp(1, least_exponent - mantissa);
   frexp(truth, &exponent);
   exponent = exponent - 1 < least_exponent ? least_exponent : exponent - 1;
   return ldexp(1, exponent - mantissa);
}

bool conformance_truth(const struct instruction *in, const uint64_t operand[3], double *truth,
                       double *allowed) {
   double a = conformance_value(in->operand[0], operand[0]);
   double b = in->operand[1] ? conformance_value(in->operand[1], operand[1]) : 0;
   const char *f = in->nearly;
   bool flush = strstr(in->text, ".ftz") != NULL;
   double tiny = 0x1p-126;
   if (!isfinite(a) || !isfinite(b))
      return false;
   if (flush && fabs(a) < tiny)
      a = copysign(0, a);
   if (flush && fabs(b) < tiny)
      b = copysign(0, b);
   /* Each error is the manual's for the instruction; where it gives a relative one, it is of the truth. */
   if (!strcmp(f, "rcp"))
      *truth = 1 / a, *allowed = units(*truth, 23, -126);
   else if (!strcmp(f, "sqrt"))
      *truth = sqrt(a), *allowed = 0x1p-22 * fabs(*truth);
   else if (!strcmp(f, "rsqrt"))
      *truth = 1 / sqrt(a), *allowed = exp2(-22.9) * fabs(*truth);
   else if (!strcmp(f, "sin") || !strcmp(f, "cos")) {
      if (fabs(a) > 6.283185307179586)
         return false;
      *truth = f[0] == 's' ? sin(a) : cos(a), *allowed = exp2(-20.5);
   } else if (!strcmp(f, "lg2"))
      *truth = log2(a), *allowed = a > 0.5 && a < 2 ? 0x1p-22 : 0x1p-22 * fabs(*truth);
   else if (!strcmp(f, "ex2"))
      *truth = exp2(a), *allowed = 2.5 * units(*truth, 23, -126);
   else if (!strcmp(f, "tanh"))
      *truth = tanh(a), *allowed = 0x1p-11 * fabs(*truth);
   else if (!strcmp(f, "div_full"))
      *truth = a / b, *allowed = 2 * units(*truth, 23, -126);
   else if (!strcmp(f, "div_approx")) {
      if (fabs(b) < tiny || fabs(b) > 0x1p126)
         return false;
      *truth = a / b, *allowed = 2 * units(*truth, 23, -126);
   } else if (!strcmp(f, "rcp64"))
      *truth = 1 / a, *allowed = exp2(-18) * fabs(*truth);
   else if (!strcmp(f, "rsqrt64"))
      *truth = 1 / sqrt(a), *allowed = exp2(-18) * fabs(*truth);
   else if (!strcmp(f, "ex2_f16"))
      *truth = exp2(a), *allowed = exp2(-9.9) * fabs(*truth);
   else if (!strcmp(f, "tanh_f16"))
      *truth = tanh(a), *allowed = exp2(-10.987);
   else if (!strcmp(f, "ex2_bf16"))
      *truth = exp2(a), *allowed = 0x1p-7 * fabs(*truth);
   else if (!strcmp(f, "tanh_bf16"))
      *truth = tanh(a), *allowed = 0x1p-8;
   else
      return false;
   /* Subnormal and overflowing results are flushed or saturated as the instruction pleases: nothing is promised there. */
   bool wide = in->result == TYPE_F64;
   double largest = in->result == TYPE_F16 ? 65504
                    : wide                 ? 1e308
                                           : 3.4e38,
          least = in->result == TYPE_F16 ? 0x1p-14
                  : wide                 ? 0x1p-1000
                                         : tiny;
   return isfinite(*truth) && fabs(*truth) <= largest && (*truth == 0 || fabs(*truth) >= least);
}
