/* How a handler of 32 lanes is written.  Files in lanes/ are compiled once for each instruction set; OP(name) adds the set's name to the handler's
 * name.  A mask of all ones means that every lane may be written.  Lanes that have ended are never read again, so the code without a mask is used
 * whenever no lanes diverged. */
#ifndef RKB_MACHINE_ACCESS_VALUES_H
#define RKB_MACHINE_ACCESS_VALUES_H

#include "machine/state/execution.h"

#include <math.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#define MACHINE_PASTE(a, b) a##_##b
#define MACHINE_PASTE2(a, b) MACHINE_PASTE(a, b)
#define OP_NAME(name) MACHINE_PASTE2(machine_op_##name, MACHINE_ISA)
#define OP(name) void OP_NAME(name)(machine_warp_t * warp, const machine_instruction_t *i, uint32_t mask)
/* Handlers are declared before they are defined, because -Wmissing-prototypes and opcodes.c need the declarations. */

/* No iteration depends on another one.  Clang does not know the pragma; it finds this out by itself. */
#ifdef __clang__
#define EACH_LANE for (int l = 0; l < LANES; l++)
#else
#define EACH_LANE _Pragma("GCC ivdep") for (int l = 0; l < LANES; l++)
#endif

/* Keeps the old value of lanes outside the mask. */
#define KEEP(result, old) ((mask >> l & 1) ? (result) : (old))

#define UNARY_OP(name, D, S, expr)                                                                           \
   OP(name) {                                                                                                \
      const S *a = LANES_OF(S, i->a);                                                                        \
      D *d = LANES_OF(D, i->d);                                                                              \
      if (mask == FULL_MASK)                                                                                 \
         EACH_LANE {                                                                                         \
            S x = a[l];                                                                                      \
            d[l] = (D)(expr);                                                                                \
         }                                                                                                   \
      else                                                                                                   \
         EACH_LANE {                                                                                         \
            S x = a[l];                                                                                      \
            D r = (D)(expr);                                                                                 \
            d[l] = KEEP(r, d[l]);                                                                            \
         }                                                                                                   \
   }

#define BINARY_OP(name, D, S, T, expr)                                                                       \
   OP(name) {                                                                                                \
      const S *a = LANES_OF(S, i->a);                                                                        \
      const T *b = LANES_OF(T, i->b);                                                                        \
      D *d = LANES_OF(D, i->d);                                                                              \
      if (mask == FULL_MASK)                                                                                 \
         EACH_LANE {                                                                                         \
            S x = a[l];                                                                                      \
            T y = b[l];                                                                                      \
            d[l] = (D)(expr);                                                                                \
         }                                                                                                   \
      else                                                                                                   \
         EACH_LANE {                                                                                         \
            S x = a[l];                                                                                      \
            T y = b[l];                                                                                      \
            D r = (D)(expr);                                                                                 \
            d[l] = KEEP(r, d[l]);                                                                            \
         }                                                                                                   \
   }

#define TERNARY_OP(name, D, S, T, U, expr)                                                                   \
   OP(name) {                                                                                                \
      const S *a = LANES_OF(S, i->a);                                                                        \
      const T *b = LANES_OF(T, i->b);                                                                        \
      const U *c = LANES_OF(U, i->c);                                                                        \
      D *d = LANES_OF(D, i->d);                                                                              \
      if (mask == FULL_MASK)                                                                                 \
         EACH_LANE {                                                                                         \
            S x = a[l];                                                                                      \
            T y = b[l];                                                                                      \
            U z = c[l];                                                                                      \
            d[l] = (D)(expr);                                                                                \
         }                                                                                                   \
      else                                                                                                   \
         EACH_LANE {                                                                                         \
            S x = a[l];                                                                                      \
            T y = b[l];                                                                                      \
            U z = c[l];                                                                                      \
            D r = (D)(expr);                                                                                 \
            d[l] = KEEP(r, d[l]);                                                                            \
         }                                                                                                   \
   }

/* Predicates are masks: one word for 32 lanes. */
#define PREDICATE(offset) (*(uint32_t *)(warp->registers + (offset)))

static inline void set_predicate(machine_warp_t *warp, uint32_t offset, uint32_t value, uint32_t mask) {
   uint32_t *d = &PREDICATE(offset);
   *d = (*d & ~mask) | (value & mask);
}

/* One bit a lane from 0 or ~0 a lane. */
static inline uint32_t mask_of(const uint32_t truth[LANES]) {
#ifdef __AVX2__
   uint32_t mask = 0;
   for (int part = 0; part < 4; part++) {
      __m256i words = _mm256_loadu_si256((const __m256i *)truth + part);
      mask |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(words)) << (8 * part);
   }
   return mask;
#else
   uint32_t mask = 0;
   for (int l = 0; l < LANES; l++)
      mask |= (truth[l] >> 31) << l;
   return mask;
#endif
}

static inline void set_defined(machine_warp_t *warp, uint16_t number, uint32_t defined, uint32_t mask) {
   warp->defined[number] = (warp->defined[number] & ~mask) | (defined & mask);
}

static inline void set_taint(machine_warp_t *warp, uint16_t number, uint64_t taint, uint32_t mask) {
   if (warp->taint)
      warp->taint[number] = taint | (mask == FULL_MASK ? 0 : warp->taint[number]);
}

#define SHADOW_OF(offset) ((double *)(void *)((uint8_t *)warp->shadow + 2 * (size_t)(offset)))

static inline float bits_to_float(uint32_t bits) {
   float value;
   memcpy(&value, &bits, sizeof value);
   return value;
}

static inline uint32_t float_to_bits(float value) {
   uint32_t bits;
   memcpy(&bits, &value, sizeof bits);
   return bits;
}

#endif
