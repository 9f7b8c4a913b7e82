/* Factors of mma that are zeros (tensor_multiply.c), such as those beyond the edges of a matrix.  In small shapes most factors are zeros.
 * Products with them need not be made.  warpgroup_zeros.h does the same for wgmma.  On the machine's thread. */
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

/* Whether the instruction multiplies zeros by finite numbers, as it does beyond the edges of a matrix.  Only halves are looked at: in other types,
 * the double beside a zero may be another number. */
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

/* Whether all sums, and the doubles beside them, are zeros: such a tile stays +0 when zeros are added. */
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
