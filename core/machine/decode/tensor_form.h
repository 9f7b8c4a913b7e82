/* The meaning of one opcode of a matrix instruction (mma, wmma, and the loads and stores of wmma's fragments), and where the elements of
 * its matrices lie in the registers of a warp.  Made by decode_tensor.c, part of a program; immutable.
 *
 * PTX ISA 9.0, 9.7.15.5, has figures of mma's fragments: the elements of a matrix that one lane holds.  Let E be the number of a factor's elements in a
 * register, and let the lane's number be 4 g + t, with g from 0 to 7 and t from 0 to 3.  The lane holds
 *   of a, in register r: row g if r is even and row g + 8 if r is odd; columns 4 E (r / 2) + E t + e, with e from 0 to E - 1
 *   of b: column g
 *   of the result: row g, columns 2 t and 2 t + 1; in the second half of the registers row g + 8.
 * The manual does not specify the fragments of wmma.  Here they are the same for each tile of 16 rows (8 if the matrix has only 8) and 8 columns. */
#ifndef RKB_MACHINE_DECODE_TENSOR_FORM_H
#define RKB_MACHINE_DECODE_TENSOR_FORM_H

#include "machine/decode/tensor_types.h"

#define TENSOR_MOST_REGISTERS 8u /* of one fragment */

enum machine_tensor_operand { TENSOR_D, TENSOR_A, TENSOR_B, TENSOR_C };

typedef struct machine_tensor {
   uint16_t m, n, k;
   uint8_t type[4];      /* of d, a, b, c: enum machine_tensor_type */
   uint8_t registers[4]; /* how many registers d, a, b and c have; the instruction's extras list them in this order */
   /* whether a and b are laid out by column; for mma this matters only with `quads` */
   bool columns[2];
   bool saturates;
   uint8_t bits;      /* how single bits are combined: 0, 'x' (exclusive or), 'a' (and) */
   uint8_t quads;     /* 1: m8n8k4 on halves: four products, each by two groups of four lanes */
   uint8_t per_word;  /* elements of a factor in a register: E above */
   uint8_t blocks;    /* how many blocks of 4 * per_word columns a has */
   uint8_t row_tiles; /* tiles of 16 rows, or of 8 if the matrix has only 8 */
   uint8_t halves;    /* halves of a row tile, of 8 rows each: 1 or 2 */
   uint8_t column_tiles;
   uint8_t steps; /* partial sums that the device computes one after another */
   bool apart;    /* the addend is added after all products, and the sum is rounded to nearest */
   machine_tensor_rule_t rule;
   uint8_t operand; /* for loads and stores: which operand is moved */
   bool by_columns; /* for loads and stores: the matrix lies in memory column by column */
} machine_tensor_t;

/* Each returns which register of a fragment holds a word: of a by (tile, block, half); of b by (tile, block); of c and d by (row tile, column tile, half).
 * If a register of c or d holds one element (not pairs), the function also needs which of two columns. */
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
