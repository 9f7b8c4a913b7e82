/* Finds mma instructions of which one factor is all zeros, so that tensor_multiply.c can skip their products.  Beyond the edges of a matrix all factors
 * are zeros, and in small shapes this is most of them.  warpgroup_zeros.h does the same for wgmma.  On the machine's thread. */
#ifndef RKB_MACHINE_LANES_TENSOR_ZEROS_H
#define RKB_MACHINE_LANES_TENSOR_ZEROS_H

#include "machine/lanes/tensor_product.h"

/* *zero: all halves in the registers are zeros; *finite: none is infinite or NaN. */
static inline void look_at_halves(const machine_tensor_product_t *p, const machine_slot_t *registers,
                                  uint32_t count, uint32_t type, bool *zero, bool *finite) {
   const uint32_t low = type == TENSOR_BF16 ? 0x7f80u : 0x7c00u, high = low << 16;
   uint32_t any = 0, large = 0;
   for (uint32_t n = 0; n < count; n++) {
      const uint32_t *words = words_of(p, &registers[n]);
      EACH_LANE {
         any |= words[l];
         large |= (uint32_t)((words[l] & high) == high) | (uint32_t)((words[l] & low) == low);
      }
   }
   *zero = (any & 0x7fff7fffu) == 0;
   *finite = !large;
}

/* Whether one factor is all zeros and the other is finite.  Only float16 and bfloat16 are examined.  In other types the register may hold a zero while the
 * double that the machine carries beside it (the value in double precision) is not zero. */
static inline bool multiplies_zeros(const machine_tensor_product_t *p) {
   const machine_tensor_t *tensor = p->tensor;
   const uint32_t type = tensor->type[TENSOR_A];
   bool zero_a, finite_a, zero_b, finite_b;
   if ((type != TENSOR_BF16 && type != TENSOR_F16) || type != tensor->type[TENSOR_B])
      return false;
   look_at_halves(p, p->a, tensor->registers[TENSOR_A], type, &zero_a, &finite_a);
   look_at_halves(p, p->b, tensor->registers[TENSOR_B], type, &zero_b, &finite_b);
   return (zero_a && finite_b) || (zero_b && finite_a);
}

/* Whether all sums, and the doubles that the machine carries beside them, are zeros.  When zeros are added to them, the sums are +0. */
static inline bool holds_zeros(const uint32_t *sum, const double *wide, uint32_t count) {
   uint64_t any = 0;
   for (uint32_t n = 0; n < count; n++)
      any |= sum[n] & INT32_MAX;
   for (uint32_t n = 0; wide && n < count; n++) {
      uint64_t bits;
      memcpy(&bits, &wide[n], sizeof bits);
      any |= bits;
   }
   return any == 0;
}

#endif
