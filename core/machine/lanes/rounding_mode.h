/* The direction in which this thread's floating-point operations round, for instructions that name one.  Whoever changes it puts it back to
 * nearest.  If functions of the C library may read the mode, fesetround sets it.  With FMA instructions no such function is called, so only the
 * vector unit's mode is set. */
#ifndef RKB_MACHINE_LANES_ROUNDING_MODE_H
#define RKB_MACHINE_LANES_ROUNDING_MODE_H

#include "machine/decode/decoded_program.h"

#ifdef __FMA__
#include <immintrin.h>
#else
#include <fenv.h>
#endif

static inline void set_rounding(uint32_t rounding) {
#ifdef __FMA__
   static const uint32_t modes[] = {_MM_ROUND_NEAREST, _MM_ROUND_TOWARD_ZERO, _MM_ROUND_DOWN, _MM_ROUND_UP,
                                    _MM_ROUND_NEAREST};
   _mm_setcsr((_mm_getcsr() & ~(uint32_t)_MM_ROUND_MASK) | modes[rounding]);
#else
   static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST};
   fesetround(modes[rounding]);
#endif
}

#endif
