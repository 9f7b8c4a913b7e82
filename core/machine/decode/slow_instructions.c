/* The extra cost of instructions that are slow to execute, in thread-instructions a lane.  The machine computes the lanes of these one after
 * the other, by a function of the C library or in software, which takes much longer than an addition (docs/decisions/work.md says how the
 * costs were measured).  Part of the decoder. */
#include "machine/decode/decode.h"

#include <string.h>

/* By the beginning of a row's key; the first that fits counts. */
static const struct {
   const char *key;
   uint8_t burden;
} dear[] = {
   {"ex2.approx.f32", 3},
   {"lg2.approx.f32", 1},
   {"sin.approx.f32", 3},
   {"cos.approx.f32", 3},
   {"tanh.approx.f32", 4},
   {"ex2.approx.", 6}, /* of halves */
   {"tanh.approx.", 11},
   {"div.f32", 4},
   {"div.f64", 5},
   {"cvt.packed", 8},
   {"cvt.rn.satfinite.", 14},
   {"cvt.rn.f16x2.e", 8},
   {"cvt.pack.", 2},
   {"cvt.narrow", 5},
   {"fns.", 3},
   {"match.", 10},
   {"bar.warp.sync", 2},
   {"ldmatrix", 6},
   {"stmatrix", 6},
   {"movmatrix", 1},
   {"atom", 12},
   {"wmma.load", 6},
   {"wmma.store", 6},
   {"wgmma.mma_async", 10},
   {"mbarrier.", 12},
   {"cp.async.bulk.load", 64},
   {"cp.async.bulk.store", 64},
   {"cp.async.bulk.shared", 64},
   {"cp.async.bulk.tensor.", 96},
   {"cp.reduce.async.bulk", 96},
};

/* Conversions of any two types, and arithmetic of halves. */
#define ANY_CONVERSION 8u
#define HALVES 6u

uint8_t decode_burden(const char *key, uint8_t class) {
   for (uint32_t n = 0; n < sizeof dear / sizeof *dear; n++)
      if (strncmp(key, dear[n].key, strlen(dear[n].key)) == 0)
         return dear[n].burden;
   if (strcmp(key, "cvt") == 0)
      return ANY_CONVERSION;
   if (strcmp(key, "ld") == 0 || strcmp(key, "st") == 0)
      return 1;
   return class == RKB_CLASS_F16 ? HALVES : 0;
}
