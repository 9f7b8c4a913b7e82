/* The meaning of one opcode of wgmma.mma_async with its immediates (PTX ISA 9.0, 9.7.15.5), and of a matrix descriptor.  Made by
 * decode_warpgroup.c, part of a program; immutable. */
#ifndef RKB_MACHINE_DECODE_WARPGROUP_FORM_H
#define RKB_MACHINE_DECODE_WARPGROUP_FORM_H

#include "machine/decode/tensor_types.h"

#define WARPGROUP_WARPS 4u
#define WARPGROUP_ROWS 64u
#define WARPGROUP_MOST_COLUMNS 256u
#define WARPGROUP_PIECE 16u /* bytes that lie side by side with every swizzle */
#define WARPGROUP_LINE 32u  /* bytes of a row of a, of a column of b, in one instruction */
#define WARPGROUP_A_REGISTERS 4u
#define TENSOR_OF_WARPGROUP 1 /* the operation of such an instruction, in its class */

typedef struct machine_warpgroup_form {
   uint16_t n, k;
   uint8_t type_a, type_b, type_d; /* enum machine_tensor_type */
   uint8_t element_bits;           /* of a and b */
   uint8_t results;                /* registers of d */
   bool a_in_registers;
   bool a_across,
      b_across; /* elements side by side in memory differ in their row of a, their column of b: "MN-major" */
   bool a_negated, b_negated;
   bool saturates;
   bool together;        /* the numbers of the registers of d follow each other, up or down */
   uint16_t least;       /* of them, where they do */
   int8_t fraction;      /* bits of each term that are kept below the largest exponent */
   int8_t kept_fraction; /* bits of a float32 result's fraction; 23: all */
} machine_warpgroup_form_t;

/* The fields of a descriptor in bytes (9.7.15.5.1.2.2). */
typedef struct machine_matrix_descriptor {
   uint32_t start, leading, stride, base;
   uint32_t swizzle; /* bytes of a pattern's row: 0, 32, 64, 128 */
} machine_matrix_descriptor_t;

static inline machine_matrix_descriptor_t machine_read_descriptor(uint64_t bits) {
   static const uint8_t swizzles[4] = {0, 128, 64, 32};
   return (machine_matrix_descriptor_t){.start = (uint32_t)(bits & 0x3fff) << 4,
                                        .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                                        .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                                        .base = (uint32_t)(bits >> 49 & 7),
                                        .swizzle = swizzles[bits >> 62]};
}

/* Where a piece of 16 bytes lies.  along: which piece of the 16-byte pieces side by side; outer: which line of them.
 * The layouts are those of 9.7.15.5.1.2.1: patterns of 8 lines of swizzle bytes (16 without a swizzle).
 *    by lines (across false): outer is a row of a or a column of b; along is one of its two pieces of k;
 *    across: outer is one of the 16 elements of k; along is one of the pieces of 8 rows or columns. */
static inline uint32_t machine_piece_address(const machine_matrix_descriptor_t *d, bool across,
                                             uint32_t outer, uint32_t along) {
   const uint32_t line = d->swizzle ? d->swizzle : WARPGROUP_PIECE, pieces = line / WARPGROUP_PIECE;
   uint32_t at = d->start + outer % 8 * line;
   if (across)
      at += along % pieces * WARPGROUP_PIECE + along / pieces * (d->swizzle ? d->leading : d->stride) +
            outer / 8 * (d->swizzle ? d->stride : d->leading);
   else
      at += outer / 8 * d->stride + along * (d->swizzle ? WARPGROUP_PIECE : d->leading);
   /* The swizzle exchanges the pieces of a line by the line's number in the pattern; the address contains this number. */
   if (d->swizzle)
      at ^= (((at >> 7) - d->base) & (pieces - 1)) * WARPGROUP_PIECE;
   return at & 0x3ffff;
}

#endif
