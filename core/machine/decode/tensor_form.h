/* The meaning of one opcode of a matrix instruction (mma, wmma, and the loads and stores of wmma's fragments), and where the elements of
 * its matrices lie in the registers of a warp.  Made by decode_tensor.c, part of a program; immutable.
 *
 * Fragments are those of the figures in PTX ISA 9.0, 9.7.15.5: with E elements of a factor in a register, lane 4 g + t holds the following.  In
 * register r of a it holds row g (and g + 8 in every second register) and the columns 4 E (r / 2) + E t + e.  Of b it holds column g.  Of the
 * result it holds row g and the columns 2 t and 2 t + 1.  The manual does not specify those of wmma; here they are the same, tile by tile of 16
 * rows or 8, and 8 columns. */
#ifndef RKB_MACHINE_DECODE_TENSOR_FORM_H
#define RKB_MACHINE_DECODE_TENSOR_FORM_H

#include "machine/decode/tensor_types.h"

#define TENSOR_MOST_REGISTERS 8u /* of one fragment */

enum machine_tensor_operand { TENSOR_D, TENSOR_A, TENSOR_B, TENSOR_C };

typedef struct machine_tensor {
   uint16_t m, n, k;
   uint8_t type[4];      /* of d, a, b, c: enum machine_tensor_type */
   uint8_t registers[4]; /* of d, a, b, c; the extras of the instruction, in this order */
   /* a, b are laid out by column; for mma this matters only where groups of lanes work apart */
   bool columns[2];
   bool saturates;
   uint8_t bits;      /* how single bits are combined: 0, 'x' (exclusive or), 'a' (and) */
   uint8_t quads;     /* four products, each of two groups of four lanes (m8n8k4 on halves) */
   uint8_t per_word;  /* elements of a factor in a 32-bit word; 1 where a register is 64 bits wide */
   uint8_t blocks;    /* of 4 * per_word columns of a */
   uint8_t row_tiles; /* of 16 rows, or of 8 where there are no more */
   uint8_t halves;    /* 8 rows each, in a tile: 1 or 2 */
   uint8_t column_tiles;
   uint8_t steps; /* sums made one after another, as the device does */
   bool apart;    /* the addend is added last, rounded to nearest */
   machine_tensor_rule_t rule;
   uint8_t operand; /* of the loads and stores: which operand is moved */
   bool by_columns; /* of the loads and stores: the matrix in memory */
} machine_tensor_t;

/* Registers of a fragment: which one holds a word of a (tile, block, half), of b (tile, block), of c and d (row tile, column
 * tile, half, and, where a register holds one element, which of two columns). */
static inline uint32_t tensor_a_register(const machine_tensor_t *t, uint32_t tile, uint32_t block,
                                         uint32_t half) {
   return (tile * t->blocks + block) * t->halves + half;
}

static inline uint32_t tensor_b_register(const machine_tensor_t *t, uint32_t tile, uint32_t block) {
   return tile * t->blocks + block;
}

static inline uint32_t tensor_c_register(const machine_tensor_t *t, uint32_t row_tile, uint32_t column_tile,
                                         uint32_t half, uint32_t column, bool pairs) {
   const uint32_t row = (row_tile * t->column_tiles + column_tile) * t->halves + half;
   return pairs ? row : 2 * row + column;
}

/* Returns the first extra of an operand. */
static inline uint32_t tensor_first_extra(const machine_tensor_t *t, enum machine_tensor_operand operand) {
   uint32_t first = 0;
   for (uint32_t o = 0; o < operand; o++)
      first += t->registers[o];
   return first;
}

#endif
