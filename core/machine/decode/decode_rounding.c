/* Finds arithmetic on the bits of a float whose meaning for the double-precision shadow is known.  Some arithmetic only rounds to a narrower
 * format, (bits + constant [+ last bit kept]) & mask, as programs write TF32 and bfloat16 by hand; then the shadow stays.  Other arithmetic
 * changes the exponent; then the shadow is scaled.  Works on one function before its statements are decoded.  The sequence must begin at a move
 * from a float register or at a load, and every register in it must have one definition. */
#include "machine/decode/decode.h"

#include <stdlib.h>
#include <string.h>

/* Whether a mask keeps the sign, the exponent and 7 to 15 bits of fraction.  A mask that keeps less does not
 * round: a logarithm's range reduction clears the whole fraction. */
static bool keeps_a_float(uint32_t mask) {
   const uint32_t cleared = ~mask;
   return (cleared & (cleared + 1)) == 0 && cleared >= 0xff && cleared <= 0xffff;
}

static const ptx_operand_t *operands_of(const decoder_t *decoder, uint32_t statement) {
   return decoder->function->operands + decoder->function->statements[statement].operand;
}

/* Returns the statement that defines a register, if it is "name" with so many operands; else PTX_NONE. */
static uint32_t defined_as(const decoder_t *decoder, const ptx_operand_t *operand, const char *name,
                           uint32_t operands) {
   if (operand->kind != PTX_OPERAND_REGISTER || decoder->definitions[operand->index] != 1)
      return PTX_NONE;
   const uint32_t n = decoder->definition[operand->index];
   const ptx_statement_t *statement = &decoder->function->statements[n];
   return statement->guard == PTX_NONE && statement->operand_count == operands &&
                strncmp(statement->opcode, name, strlen(name)) == 0
             ? n
             : PTX_NONE;
}

static bool is_last_bit(const decoder_t *decoder, const ptx_operand_t *operand) {
   const uint32_t n = defined_as(decoder, operand, "and.b32", 3);
   return n != PTX_NONE && operands_of(decoder, n)[2].kind == PTX_OPERAND_INTEGER &&
          operands_of(decoder, n)[2].value == 1;
}

static bool is_half_a_step(const ptx_operand_t *operand) {
   return operand->kind == PTX_OPERAND_INTEGER && operand->value >= 0x7f && operand->value <= 0x8000;
}

/* Whether the bits are moved from a float register, or loaded; compilers load a number as an integer if they use its bits. */
static bool from_float(const decoder_t *decoder, const ptx_operand_t *operand) {
   const uint32_t n = defined_as(decoder, operand, "mov.b32", 2);
   if (n == PTX_NONE)
      return defined_as(decoder, operand, "ld.", 2) != PTX_NONE;
   const ptx_operand_t *source = &operands_of(decoder, n)[1];
   return source->kind == PTX_OPERAND_REGISTER && decoder->function->registers[source->index].type == PTX_F32;
}

/* Marks the sums between the operand and the float's bits; false when there is something else. */
static bool mark_sums(decoder_t *decoder, const ptx_operand_t *operand) {
   uint32_t sums[2], count = 0;
   while (!from_float(decoder, operand)) {
      const uint32_t n = count < 2 ? defined_as(decoder, operand, "add.", 3) : PTX_NONE;
      if (n == PTX_NONE)
         return false;
      const ptx_operand_t *operands = operands_of(decoder, n);
      if (!is_half_a_step(&operands[2]) && !is_last_bit(decoder, &operands[2]))
         return false;
      sums[count++] = n;
      operand = &operands[1];
   }
   while (count--)
      decoder->rounds[sums[count]] = DECODE_ROUNDS;
   return true;
}

/* Whether this is bits - (something & the exponent's mask): another power of two, as when a logarithm takes
 * the fraction of its operand. */
static bool scales(const decoder_t *decoder, const ptx_statement_t *statement,
                   const ptx_operand_t *operands) {
   if (statement->operand_count != 3 || strcmp(statement->opcode, "sub.s32") != 0 ||
       !from_float(decoder, &operands[1]))
      return false;
   const uint32_t n = defined_as(decoder, &operands[2], "and.b32", 3);
   return n != PTX_NONE && operands_of(decoder, n)[2].kind == PTX_OPERAND_INTEGER &&
          (uint32_t)operands_of(decoder, n)[2].value == 0xff800000u;
}

void decode_find_rounding(decoder_t *decoder) {
   const ptx_function_t *function = decoder->function;
   for (uint32_t n = 0; n < function->statement_count; n++) {
      const ptx_statement_t *statement = &function->statements[n];
      const ptx_operand_t *operands = operands_of(decoder, n);
      if (statement->operand_count == 3 && strcmp(statement->opcode, "and.b32") == 0 &&
          operands[2].kind == PTX_OPERAND_INTEGER && keeps_a_float((uint32_t)operands[2].value) &&
          mark_sums(decoder, &operands[1]))
         decoder->rounds[n] = DECODE_ROUNDS;
      else if (scales(decoder, statement, operands))
         decoder->rounds[n] = DECODE_SCALES;
   }
}
