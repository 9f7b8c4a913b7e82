/* setp, set, selp, slct (PTX ISA 9.0, 9.7.6).  A comparison gives one bit a lane.  setp may combine its result with a
 * predicate (c; i->rounding holds which way) and write the complement to a second one (the first extra operand). */
#include "machine/lanes/handlers.h"
#include "machine/lanes/half.h"

enum comparison { EQ, NE, LT, LE, GT, GE, LO, LS, HI, HS, EQU, NEU, LTU, LEU, GTU, GEU, NUM, NAN_ };
enum combination { ALONE, WITH_AND, WITH_OR, WITH_XOR };

#define TRUTH(condition)                                                                                     \
   do {                                                                                                      \
      EACH_LANE {                                                                                            \
         truth[l] = (condition) ? FULL_MASK : 0;                                                             \
      }                                                                                                      \
   } while (0)

#define DEFINE_COMPARE(name, T, read)                                                                        \
   static uint32_t compare_##name(machine_warp_t *warp, const machine_instruction_t *i) {                    \
      const T *a = LANES_OF(T, i->a), *b = LANES_OF(T, i->b);                                                \
      uint32_t truth[LANES];                                                                                 \
      switch (i->operation) {                                                                                \
      case EQ:                                                                                               \
         TRUTH(read(a[l]) == read(b[l]));                                                                    \
         break;                                                                                              \
      case NE:                                                                                               \
         TRUTH(read(a[l]) != read(b[l]));                                                                    \
         break;                                                                                              \
      case LT:                                                                                               \
      case LO:                                                                                               \
         TRUTH(read(a[l]) < read(b[l]));                                                                     \
         break;                                                                                              \
      case LE:                                                                                               \
      case LS:                                                                                               \
         TRUTH(read(a[l]) <= read(b[l]));                                                                    \
         break;                                                                                              \
      case GT:                                                                                               \
      case HI:                                                                                               \
         TRUTH(read(a[l]) > read(b[l]));                                                                     \
         break;                                                                                              \
      default:                                                                                               \
         TRUTH(read(a[l]) >= read(b[l]));                                                                    \
         break;                                                                                              \
      }                                                                                                      \
      return mask_of(truth);                                                                                 \
   }

/* Compares eight words at a time; each group's results go into the mask at once. */
typedef int32_t signed_words_t __attribute__((vector_size(32), may_alias));
typedef uint32_t unsigned_words_t __attribute__((vector_size(32), may_alias));

static inline uint32_t mask_of_eight(signed_words_t truth) {
#ifdef __AVX2__
   return (uint32_t)_mm256_movemask_ps((__m256)truth);
#else
   uint32_t mask = 0;
   for (int l = 0; l < 8; l++)
      mask |= (uint32_t)(truth[l] & 1) << l;
   return mask;
#endif
}

#define TRUTHS(how)                                                                                          \
   for (int l = 0; l < LANES; l += 8)                                                                        \
   mask |= mask_of_eight((signed_words_t)(a[l / 8] how b[l / 8])) << l

#define DEFINE_COMPARE_WORDS(name, T)                                                                        \
   static uint32_t compare_##name(machine_warp_t *warp, const machine_instruction_t *i) {                    \
      const T *a = LANES_OF(const T, i->a), *b = LANES_OF(const T, i->b);                                    \
      uint32_t mask = 0;                                                                                     \
      switch (i->operation) {                                                                                \
      case EQ:                                                                                               \
         TRUTHS(==);                                                                                         \
         break;                                                                                              \
      case NE:                                                                                               \
         TRUTHS(!=);                                                                                         \
         break;                                                                                              \
      case LT:                                                                                               \
      case LO:                                                                                               \
         TRUTHS(<);                                                                                          \
         break;                                                                                              \
      case LE:                                                                                               \
      case LS:                                                                                               \
         TRUTHS(<=);                                                                                         \
         break;                                                                                              \
      case GT:                                                                                               \
      case HI:                                                                                               \
         TRUTHS(>);                                                                                          \
         break;                                                                                              \
      default:                                                                                               \
         TRUTHS(>=);                                                                                         \
         break;                                                                                              \
      }                                                                                                      \
      return mask;                                                                                           \
   }

/* NE on floats is ordered: false when either side is NaN; the forms ending in u are true then. */
#define DEFINE_COMPARE_FLOAT(name, T, F, read)                                                               \
   static uint32_t compare_##name(machine_warp_t *warp, const machine_instruction_t *i) {                    \
      const T *pa = LANES_OF(T, i->a), *pb = LANES_OF(T, i->b);                                              \
      F a[LANES], b[LANES];                                                                                  \
      uint32_t truth[LANES];                                                                                 \
      EACH_LANE {                                                                                            \
         a[l] = read(pa[l], i->flags);                                                                       \
         b[l] = read(pb[l], i->flags);                                                                       \
      }                                                                                                      \
      switch (i->operation) {                                                                                \
      case EQ:                                                                                               \
         TRUTH(a[l] == b[l]);                                                                                \
         break;                                                                                              \
      case NE:                                                                                               \
         TRUTH(a[l]<b[l] || a[l]> b[l]);                                                                     \
         break;                                                                                              \
      case LT:                                                                                               \
         TRUTH(a[l] < b[l]);                                                                                 \
         break;                                                                                              \
      case LE:                                                                                               \
         TRUTH(a[l] <= b[l]);                                                                                \
         break;                                                                                              \
      case GT:                                                                                               \
         TRUTH(a[l] > b[l]);                                                                                 \
         break;                                                                                              \
      case GE:                                                                                               \
         TRUTH(a[l] >= b[l]);                                                                                \
         break;                                                                                              \
      case EQU:                                                                                              \
         TRUTH(!(a[l] < b[l] || a[l] > b[l]));                                                               \
         break;                                                                                              \
      case NEU:                                                                                              \
         TRUTH(a[l] != b[l]);                                                                                \
         break;                                                                                              \
      case LTU:                                                                                              \
         TRUTH(!(a[l] >= b[l]));                                                                             \
         break;                                                                                              \
      case LEU:                                                                                              \
         TRUTH(!(a[l] > b[l]));                                                                              \
         break;                                                                                              \
      case GTU:                                                                                              \
         TRUTH(!(a[l] <= b[l]));                                                                             \
         break;                                                                                              \
      case GEU:                                                                                              \
         TRUTH(!(a[l] < b[l]));                                                                              \
         break;                                                                                              \
      case NUM:                                                                                              \
         TRUTH(a[l] == a[l] && b[l] == b[l]);                                                                \
         break;                                                                                              \
      default:                                                                                               \
         TRUTH(a[l] != a[l] || b[l] != b[l]);                                                                \
         break;                                                                                              \
      }                                                                                                      \
      return mask_of(truth);                                                                                 \
   }

#define AS_IS(x) (x)
#define AS_U16(x) ((uint16_t)(x))
#define AS_S16(x) ((int16_t)(x))

static inline float plain_float(float x, uint32_t flags) {
   return (flags & FLAG_FTZ) && fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x;
}

static inline double plain_double(double x, uint32_t flags) {
   (void)flags;
   return x;
}

static inline float from_half(uint32_t x, uint32_t flags) {
   float value = half_to_float((uint16_t)x);
   return (flags & FLAG_FTZ) && fabsf(value) < 0x1p-14f ? copysignf(0.0f, value) : value;
}

static inline float from_bfloat(uint32_t x, uint32_t flags) {
   (void)flags;
   return bits_to_float(x << 16);
}

static inline float from_upper_half(uint32_t x, uint32_t flags) {
   return from_half(x >> 16, flags);
}

static inline float from_upper_bfloat(uint32_t x, uint32_t flags) {
   return from_bfloat(x >> 16, flags);
}

DEFINE_COMPARE(u16, uint32_t, AS_U16)
DEFINE_COMPARE(s16, uint32_t, AS_S16)
DEFINE_COMPARE_WORDS(u32, unsigned_words_t)
DEFINE_COMPARE_WORDS(s32, signed_words_t)
DEFINE_COMPARE(u64, uint64_t, AS_IS)
DEFINE_COMPARE(s64, int64_t, AS_IS)
DEFINE_COMPARE_FLOAT(f32, float, float, plain_float)
DEFINE_COMPARE_FLOAT(f64, double, double, plain_double)
DEFINE_COMPARE_FLOAT(f16, uint32_t, float, from_half)
DEFINE_COMPARE_FLOAT(bf16, uint32_t, float, from_bfloat)
DEFINE_COMPARE_FLOAT(upper_f16, uint32_t, float, from_upper_half)
DEFINE_COMPARE_FLOAT(upper_bf16, uint32_t, float, from_upper_bfloat)

static uint32_t combine(uint32_t truth, uint32_t other, uint32_t how) {
   return how == WITH_AND   ? truth & other
          : how == WITH_OR  ? truth | other
          : how == WITH_XOR ? truth ^ other
                            : truth;
}

/* second: what the second destination gets. */
static inline void finish_setp_pair(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                                    uint32_t truth, uint32_t second_truth) {
   uint32_t other = 0;
   if (i->rounding)
      other = PREDICATE(i->c) ^ (i->flags & FLAG_NEGATED_C ? FULL_MASK : 0);
   /* The dispatcher handles the first destination; the second depends on the same operands. */
   if (i->flags & FLAG_SECOND) {
      const machine_slot_t *second = warp->program->extras + i->extra;
      set_defined(warp, second->number, warp->defined[i->ai] & warp->defined[i->bi] & warp->defined[i->ci],
                  mask);
      if (warp->taint)
         set_taint(warp, second->number, warp->taint[i->ai] | warp->taint[i->bi] | warp->taint[i->ci], mask);
      set_predicate(warp, second->offset, combine(second_truth, other, i->rounding), mask);
   }
   set_predicate(warp, i->d, combine(truth, other, i->rounding), mask);
}

static inline void finish_setp(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                               uint32_t truth) {
   finish_setp_pair(warp, i, mask, truth, ~truth);
}

#define SETP(name)                                                                                           \
   OP(setp_##name) {                                                                                         \
      finish_setp(warp, i, mask, compare_##name(warp, i));                                                   \
   }
SETP(u16)
SETP(s16)
SETP(u32)
SETP(s32)
SETP(u64)
SETP(s64)
SETP(f32)
SETP(f64) SETP(f16) SETP(bf16)

/* setp of packed halves: one predicate for each half. */
#define SETP_PACKED(name)                                                                                    \
   OP(setp_##name##x2) {                                                                                     \
      finish_setp_pair(warp, i, mask, compare_##name(warp, i), compare_upper_##name(warp, i));               \
   }
   SETP_PACKED(f16) SETP_PACKED(bf16)

   /* set: all ones, or 1.0 where the destination is a float (i->type); for each half where that is packed. */
   static uint32_t set_value(uint32_t type) {
   switch (type) {
   case PTX_F32:
      return 0x3f800000;
   case PTX_F16:
   case PTX_F16X2:
      return 0x3c00;
   case PTX_BF16:
   case PTX_BF16X2:
      return 0x3f80;
   case PTX_U16:
   case PTX_S16:
      return 0xffff;
   default:
      return FULL_MASK;
   }
}

static inline void finish_set(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                              uint32_t truth) {
   if (i->rounding)
      truth = combine(truth, PREDICATE(i->c) ^ (i->flags & FLAG_NEGATED_C ? FULL_MASK : 0), i->rounding);
   const uint32_t yes = set_value(i->type);
   uint32_t *d = LANES_OF(uint32_t, i->d);
   EACH_LANE d[l] = KEEP(truth >> l & 1 ? yes : 0, d[l]);
}

#define SET(name)                                                                                            \
   OP(set_##name) {                                                                                          \
      finish_set(warp, i, mask, compare_##name(warp, i));                                                    \
   }
SET(u16)
SET(s16)
SET(u32)
SET(s32)
SET(u64)
SET(s64)
SET(f32)
SET(f64) SET(f16) SET(bf16)

   static inline void finish_set_packed(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                                        uint32_t lower, uint32_t upper) {
   const uint32_t other = i->rounding ? PREDICATE(i->c) ^ (i->flags & FLAG_NEGATED_C ? FULL_MASK : 0) : 0;
   const uint32_t yes = set_value(i->type) & 0xffff;
   lower = combine(lower, other, i->rounding);
   upper = combine(upper, other, i->rounding);
   uint32_t *d = LANES_OF(uint32_t, i->d);
   EACH_LANE {
      uint32_t r = (lower >> l & 1 ? yes : 0) | (upper >> l & 1 ? yes << 16 : 0);
      d[l] = KEEP(r, d[l]);
   }
}

#define SET_PACKED(name)                                                                                     \
   OP(set_##name##x2) {                                                                                      \
      finish_set_packed(warp, i, mask, compare_##name(warp, i), compare_upper_##name(warp, i));              \
   }
SET_PACKED(f16)
SET_PACKED(bf16)

/* A selection is defined if the selected operand is.  Usually it selects between a masked load and a
 * constant. */
static inline void finish_select(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                                 uint32_t choice, uint32_t choice_defined) {
   const uint32_t defined =
      ((choice & warp->defined[i->ai]) | (~choice & warp->defined[i->bi])) & choice_defined;
   const uint32_t one_defined = (warp->defined[i->ai] ^ warp->defined[i->bi]) & choice_defined & mask;
   set_defined(warp, i->di, defined, mask);
   if (!warp->taint)
      return;
   /* with another value of c the result would be defined where it is not now, or undefined where it is */
   if (one_defined)
      warp->run->report.control_taint |= warp->taint[i->ci];
   set_taint(warp, i->di, warp->taint[i->ai] | warp->taint[i->bi] | warp->taint[i->ci], mask);
}

static inline void select_words(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                                uint32_t choice) {
   const uint32_t *a = LANES_OF(uint32_t, i->a), *b = LANES_OF(uint32_t, i->b);
   uint32_t *d = LANES_OF(uint32_t, i->d);
   if (warp->shadow) {
      machine_shadow_fill(warp, i->a, i->ai);
      machine_shadow_fill(warp, i->b, i->bi);
      const double *sa = SHADOW_OF(i->a), *sb = SHADOW_OF(i->b);
      double *sd = SHADOW_OF(i->d);
      EACH_LANE {
         double r = choice >> l & 1 ? sa[l] : sb[l];
         sd[l] = KEEP(r, sd[l]);
      }
      warp->valid[i->di] |= mask;
   }
   EACH_LANE {
      uint32_t r = choice >> l & 1 ? a[l] : b[l];
      d[l] = KEEP(r, d[l]);
   }
}

static inline void select_doubles(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                                  uint32_t choice) {
   const uint64_t *a = LANES_OF(uint64_t, i->a), *b = LANES_OF(uint64_t, i->b);
   uint64_t *d = LANES_OF(uint64_t, i->d);
   EACH_LANE {
      uint64_t r = choice >> l & 1 ? a[l] : b[l];
      d[l] = KEEP(r, d[l]);
   }
}

OP(selp_b32) {
   uint32_t choice = PREDICATE(i->c) ^ (i->flags & FLAG_NEGATED_C ? FULL_MASK : 0);
   finish_select(warp, i, mask, choice, warp->defined[i->ci]);
   select_words(warp, i, mask, choice);
}

OP(selp_b64) {
   uint32_t choice = PREDICATE(i->c) ^ (i->flags & FLAG_NEGATED_C ? FULL_MASK : 0);
   finish_select(warp, i, mask, choice, warp->defined[i->ci]);
   select_doubles(warp, i, mask, choice);
}

static uint32_t not_negative(machine_warp_t *warp, const machine_instruction_t *i) {
   const uint32_t *c = LANES_OF(uint32_t, i->c);
   uint32_t truth[LANES];
   if (i->type == PTX_F32) /* a negative subnormal number that is flushed to zero is no longer negative */
      TRUTH((i->flags & FLAG_FTZ ? plain_float(bits_to_float(c[l]), FLAG_FTZ) : bits_to_float(c[l])) >= 0);
   else
      TRUTH((int32_t)c[l] >= 0);
   return mask_of(truth);
}

OP(slct_b32) {
   uint32_t choice = not_negative(warp, i);
   finish_select(warp, i, mask, choice, warp->defined[i->ci]);
   select_words(warp, i, mask, choice);
}

OP(slct_b64) {
   uint32_t choice = not_negative(warp, i);
   finish_select(warp, i, mask, choice, warp->defined[i->ci]);
   select_doubles(warp, i, mask, choice);
}
