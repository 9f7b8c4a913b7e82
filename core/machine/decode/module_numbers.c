/* The words of 32 bits that a module's text contains: numbers in instructions and initial values of variables.  A kernel that is wrong for one
 * value of an input mostly compares with that value.  Pure; any thread. */
#include "machine/machine.h"
#include "machine/ptx/module.h"

#include <math.h>
#include <string.h>

#define OF_COMPARISONS 8u /* how often the list has a word that the text compares with */
#define OF_VARIABLE 64u   /* words of one variable */
#define SIGN 0x80000000u

struct words {
   uint32_t *of, count, room;
};

static bool knows(const struct words *words, uint32_t word) {
   bool known = false;
   for (uint32_t n = 0; n < words->count && !known; n++)
      known = words->of[n] == word;
   return known;
}

static void add(struct words *words, uint32_t word, uint32_t times) {
   for (bool known = knows(words, word); !known && times && words->count < words->room; times--)
      words->of[words->count++] = word;
}

/* The operand's word; false where it is no number of 32 bits. */
static bool word_of(const ptx_operand_t *operand, uint32_t *word) {
   double wide;
   float narrow;
   switch (operand->kind) {
   case PTX_OPERAND_INTEGER:
      *word = (uint32_t)operand->value;
      return operand->value <= UINT32_MAX || operand->value >= UINT64_C(0xffffffff80000000);
   case PTX_OPERAND_FLOAT32:
      *word = (uint32_t)operand->value;
      return true;
   case PTX_OPERAND_FLOAT64:
      memcpy(&wide, &operand->value, sizeof wide);
      narrow = fabs(wide) < 0x1p127 ? (float)wide : 0;
      memcpy(word, &narrow, sizeof narrow);
      return true;
   default:
      return false;
   }
}

static void add_statements(struct words *words, const ptx_function_t *function, bool comparisons) {
   for (uint32_t n = 0; n < function->statement_count; n++) {
      const ptx_statement_t *statement = &function->statements[n];
      if ((strncmp(statement->opcode, "set", 3) == 0) != comparisons)
         continue;
      for (uint32_t o = 0; o < statement->operand_count; o++) {
         uint32_t word;
         if (!word_of(&function->operands[statement->operand + o], &word))
            continue;
         add(words, word, comparisons ? OF_COMPARISONS : 1);
         add(words, word ^ SIGN, 1); /* x + c == 0, |x| == c */
      }
   }
}

uint32_t rkb_machine_words(const rkb_machine_module_t *module, uint32_t *words, uint32_t room) {
   struct words all = {words, 0, room};
   for (int comparisons = 1; comparisons >= 0; comparisons--)
      for (uint32_t n = 0; n < module->function_count; n++)
         if (module->functions[n].defined)
            add_statements(&all, &module->functions[n], comparisons);
   for (uint32_t n = 0; n < module->variable_count; n++) {
      const ptx_variable_t *variable = &module->variables[n];
      for (uint64_t at = 0; variable->initial && at + 4 <= variable->bytes && at < 4 * OF_VARIABLE; at += 4) {
         uint32_t word;
         memcpy(&word, (const uint8_t *)variable->initial + at, sizeof word);
         add(&all, word, 1);
      }
   }
   return all.count;
}
