/* Finds where the operands of wgmma.mma_async are in shared memory, in pieces of 16 bytes, and takes their
 * elements as the factors of sums (PTX ISA 9.0, 9.7.15.5.1).  The caller judges what is found about the
 * bytes.  On the machine's thread. */
#ifndef RKB_MACHINE_LANES_WARPGROUP_OPERANDS_H
#define RKB_MACHINE_LANES_WARPGROUP_OPERANDS_H

#include "machine/async/warpgroups.h"
#include "machine/access/values.h"
#include "machine/lanes/warpgroup_sums.h"

static inline void find_pieces(uint64_t descriptor, bool across, uint32_t lines, operand_pieces_t *out) {
   out->bits = descriptor;
   out->descriptor = machine_read_descriptor(descriptor);
   out->across = across;
   out->lines = lines;
   out->defined = 0;
   out->lines_known = 0;
   const machine_matrix_descriptor_t d = out->descriptor;
   const uint32_t outer = across ? 16 : lines, along = across ? lines / 8 : 2;
   out->count = outer * along;
   for (uint32_t p = 0; p < along; p++)
      for (uint32_t o = 0; o < outer; o++)
         out->address[p * outer + o] = machine_piece_address(&d, across, o, p);
}

/* False, with the first such piece, where a piece is not in shared memory, or is between variables. */
static inline bool pieces_inside(const machine_warp_t *warp, const operand_pieces_t *pieces,
                                 uint32_t *outside) {
   const uint32_t bytes = warp->block->cluster.shared_bytes;
   uint32_t most = 0, least = UINT32_MAX;
   for (uint32_t n = 0; n < pieces->count; n++) {
      most = pieces->address[n] > most ? pieces->address[n] : most;
      least = pieces->address[n] < least ? pieces->address[n] : least;
   }
   if (most + WARPGROUP_PIECE <= bytes &&
       !machine_touches_gap(warp->program, least, most + WARPGROUP_PIECE - least))
      return true;
   for (uint32_t n = 0; n < pieces->count; n++)
      if (pieces->address[n] + WARPGROUP_PIECE > bytes ||
          machine_touches_gap(warp->program, pieces->address[n], WARPGROUP_PIECE)) {
         *outside = n;
         return false;
      }
   return true;
}

/* Whether the layout uses the descriptor's leading offset. */
static inline bool pieces_have_leading(const operand_pieces_t *pieces) {
   const machine_matrix_descriptor_t *d = &pieces->descriptor;
   return !d->swizzle || (pieces->across && 2 * pieces->lines > d->swizzle);
}

/* Whether a pattern begins where the device assumes that it begins. */
static inline bool pieces_aligned(const operand_pieces_t *pieces) {
   const machine_matrix_descriptor_t *d = &pieces->descriptor;
   if (!d->swizzle)
      return true;
   const uint32_t at = (d->start - (d->base << 7)) & (8 * d->swizzle - 1);
   return pieces->across ? at == 0 : at + WARPGROUP_LINE <= d->swizzle;
}

/* Whether all pieces hold values.  The result is kept, because the warps of a block ask for the same pieces, and pieces that held values hold them
 * until bytes without a value are stored. */
static inline bool pieces_defined(const machine_block_t *block, operand_pieces_t *pieces) {
   uint64_t other = 0;
   if (pieces->defined == block->run->undefinings + 1)
      return true;
   for (uint32_t n = 0; n < pieces->count; n++) {
      uint64_t words[2];
      memcpy(words, block->shared_defined + pieces->address[n], sizeof words);
      other |= (words[0] ^ UINT64_C(0x0101010101010101)) | (words[1] ^ UINT64_C(0x0101010101010101));
   }
   pieces->defined = other == 0 ? block->run->undefinings + 1 : 0;
   return other == 0;
}

/* Which of the eight lines of a tile hold values throughout: a bit for each.  Its pieces have two bytes of each line. */
static inline uint32_t defined_across(const machine_block_t *block, const uint32_t address[16]) {
   uint64_t other[2] = {0, 0};
   uint32_t bits = 0;
   for (uint32_t k = 0; k < 16; k++) {
      uint64_t words[2];
      memcpy(words, block->shared_defined + address[k], sizeof words);
      other[0] |= words[0] ^ UINT64_C(0x0101010101010101);
      other[1] |= words[1] ^ UINT64_C(0x0101010101010101);
   }
   for (uint32_t l = 0; l < 8; l++)
      bits |= (uint32_t)((other[l / 4] >> 16 * (l % 4) & 0xffff) == 0) << l;
   return bits;
}

/* The same for eight lines that have a piece each in two places; not across. */
static inline uint32_t defined_eight(const uint8_t *defined, const uint32_t address[8],
                                     const uint32_t further[8]) {
   typedef uint64_t two_t __attribute__((vector_size(WARPGROUP_PIECE), aligned(1), may_alias));
   const two_t values = {UINT64_C(0x0101010101010101), UINT64_C(0x0101010101010101)};
   uint32_t bits = 0;
   for (uint32_t l = 0; l < 8; l++) {
      const two_t other = (*(const two_t *)(const void *)(defined + address[l]) ^ values) |
                          (*(const two_t *)(const void *)(defined + further[l]) ^ values);
      bits |= (uint32_t)((other[0] | other[1]) == 0) << l;
   }
   return bits;
}

/* Returns which lines hold values throughout: a bit for each. */
static inline void defined_lines(const machine_block_t *block, const operand_pieces_t *pieces,
                                 uint32_t *bits) {
   memset(bits, 0, (pieces->lines + 31) / 32 * sizeof *bits);
   for (uint32_t l = 0; pieces->across && l < pieces->lines; l += 8)
      bits[l / 32] |= defined_across(block, pieces->address + 2 * l) << l % 32;
   for (uint32_t l = 0; !pieces->across && l < pieces->lines; l += 8)
      bits[l / 32] |=
         defined_eight(block->shared_defined, pieces->address + l, pieces->address + pieces->lines + l)
         << l % 32;
}

/* The same for all lines of a matrix.  The result is kept: in a run of which only some elements are asked for, most products have lines without
 * values, and the warps of a block ask for the same lines. */
static inline void find_defined_lines(const machine_block_t *block, operand_pieces_t *pieces,
                                      uint32_t *bits) {
   const bool kept = block->run->options.asked != NULL;
   const uint32_t words = (pieces->lines + 31) / 32;
   if (!kept || pieces->lines_known != block->run->undefinings + 1)
      defined_lines(block, pieces, pieces->known_lines);
   pieces->lines_known = kept ? block->run->undefinings + 1 : 0;
   memcpy(bits, pieces->known_lines, words * sizeof *bits);
}

/* The 32 bytes of a line; not across. */
static inline void take_line(const machine_block_t *block, const operand_pieces_t *pieces, uint32_t line,
                             uint8_t *out) {
   memcpy(out, block->shared + pieces->address[line], WARPGROUP_PIECE);
   memcpy(out + WARPGROUP_PIECE, block->shared + pieces->address[pieces->lines + line], WARPGROUP_PIECE);
}

/* Element k of a line of 16-bit elements. */
static inline uint16_t take_element(const machine_block_t *block, const operand_pieces_t *pieces,
                                    uint32_t line, uint32_t k) {
   uint16_t bits;
   const uint32_t at = pieces->across ? pieces->address[line / 8 * 16 + k] + line % 8 * 2
                                      : pieces->address[k / 8 * pieces->lines + line] + k % 8 * 2;
   memcpy(&bits, block->shared + at, sizeof bits);
   return bits;
}

/* Where the double of word k of a line of 32-bit elements is; not across. */
static inline uint32_t word_place(const operand_pieces_t *pieces, uint32_t line, uint32_t k) {
   return pieces->address[k / 4 * pieces->lines + line] + k % 4 * 4;
}

#endif
