/* An mma or wmma.mma that is being executed: its registers, and results as rows of a tile (tensor_multiply.c, tensor_plain_sums.c).  On the machine's
 * thread. */
#ifndef RKB_MACHINE_LANES_TENSOR_PRODUCT_H
#define RKB_MACHINE_LANES_TENSOR_PRODUCT_H

#include "machine/lanes/half.h"
#include "machine/lanes/handlers.h"
#include "machine/lanes/tensor_arithmetic.h"

#define TILE (TENSOR_ROWS * TENSOR_COLUMNS)
#define MOST_TILES 4u

typedef struct machine_tensor_product {
   machine_warp_t *warp;
   const machine_tensor_t *tensor;
   const machine_slot_t *d, *a, *b, *c;
} machine_tensor_product_t;

static inline const uint32_t *words_of(const machine_tensor_product_t *p, const machine_slot_t *slot) {
   const machine_warp_t *warp = p->warp;
   return LANES_OF(uint32_t, slot->offset);
}

/* Two registers are eight rows of a tile: lane 4 g + t has the columns 2 t and 2 t + 1 of row g. */
#define WEAVE(name, type)                                                                                    \
   static inline void name(const type *even, const type *odd, type *rows) {                                  \
      for (uint32_t l = 0; l < LANES; l++) {                                                                 \
         rows[2 * l] = even[l];                                                                              \
         rows[2 * l + 1] = odd[l];                                                                           \
      }                                                                                                      \
   }                                                                                                         \
   static inline void un##name(const type *rows, type *even, type *odd) {                                    \
      for (uint32_t l = 0; l < LANES; l++) {                                                                 \
         even[l] = rows[2 * l];                                                                              \
         odd[l] = rows[2 * l + 1];                                                                           \
      }                                                                                                      \
   }
WEAVE(weave_words, uint32_t)
WEAVE(weave_doubles, double)

/* The first of the two registers of eight rows; the other one follows. */
static inline const machine_slot_t *pair_of(const machine_tensor_t *tensor, const machine_slot_t *registers,
                                            uint32_t row_tile, uint32_t column_tile, uint32_t half) {
   return &registers[tensor_c_register(tensor, row_tile, column_tile, half, 0, false)];
}

static inline void take_sums(const machine_tensor_product_t *p, uint32_t row_tile, uint32_t column_tile,
                             uint32_t *sum) {
   const machine_tensor_t *tensor = p->tensor;
   for (uint32_t half = 0; half < tensor->halves; half++, sum += 8 * TENSOR_COLUMNS) {
      const machine_slot_t *pair = pair_of(tensor, p->c, row_tile, column_tile, half);
      if (tensor->type[TENSOR_C] != TENSOR_F16) {
         weave_words(words_of(p, &pair[0]), words_of(p, &pair[1]), sum);
         continue;
      }
      const uint32_t *words =
         words_of(p, &p->c[tensor_c_register(tensor, row_tile, column_tile, half, 0, true)]);
      for (uint32_t l = 0; l < LANES; l++) {
         sum[2 * l] = words[l] & 0xffff;
         sum[2 * l + 1] = words[l] >> 16;
      }
   }
}

static inline void put_sums(const machine_tensor_product_t *p, uint32_t row_tile, uint32_t column_tile,
                            const uint32_t *sum) {
   const machine_tensor_t *tensor = p->tensor;
   machine_warp_t *warp = p->warp;
   for (uint32_t half = 0; half < tensor->halves; half++, sum += 8 * TENSOR_COLUMNS) {
      const machine_slot_t *pair = pair_of(tensor, p->d, row_tile, column_tile, half);
      if (tensor->type[TENSOR_D] != TENSOR_F16) {
         unweave_words(sum, LANES_OF(uint32_t, pair[0].offset), LANES_OF(uint32_t, pair[1].offset));
         continue;
      }
      uint32_t *words =
         LANES_OF(uint32_t, p->d[tensor_c_register(tensor, row_tile, column_tile, half, 0, true)].offset);
      for (uint32_t l = 0; l < LANES; l++)
         words[l] = (sum[2 * l] & 0xffff) | sum[2 * l + 1] << 16;
   }
}

static inline uint32_t canonical(float value) {
   return value != value ? 0x7fffffffu : float_to_bits(value);
}

static inline uint16_t half_of(float value) {
   return value != value ? 0x7fff : double_to_half(value, ROUND_NEAREST);
}

/* Products whose sums are not aligned and cut off: tensor_plain_sums.c. */
typedef void machine_multiply_plain_t(const machine_tensor_product_t *p);
machine_multiply_plain_t MACHINE_PASTE2(machine_multiply_quads, MACHINE_ISA);
machine_multiply_plain_t MACHINE_PASTE2(machine_multiply_doubles, MACHINE_ISA);
machine_multiply_plain_t MACHINE_PASTE2(machine_multiply_integers, MACHINE_ISA);

#endif
