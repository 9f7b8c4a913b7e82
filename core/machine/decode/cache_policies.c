/* The cache policies that a module's accesses name as numbers (machine.h).
 *
 * A policy is a word of 64 bits.  The manual only says that createpolicy makes it.  But the word is the same on all devices, libraries of templates
 * contain it as a number, and a kernel can do so too.  Of such words those are known that change nothing beyond the launch: the ordinary policy, and
 * lines that are evicted first.  Every other one may keep lines in the cache for later launches.  Pure; any thread. */
#include "machine/decode/conditions.h"

#include <string.h>

#define EVICT_NORMAL UINT64_C(0x1000000000000000)
#define EVICT_FIRST UINT64_C(0x12f0000000000000)
#define DEEPEST 8u /* copies of copies */

static bool is_harmless(uint64_t policy) {
   return policy == EVICT_NORMAL || policy == EVICT_FIRST;
}

static bool gives(const ptx_function_t *function, const ptx_statement_t *statement, uint32_t index) {
   const ptx_operand_t *to = &function->operands[statement->operand];
   bool gives_it = false;
   if (!statement->operand_count)
      return false;
   for (uint32_t n = 0; to->kind == PTX_OPERAND_LIST && n < to->count && !gives_it; n++)
      gives_it = function->operands[to->first + n].kind == PTX_OPERAND_REGISTER &&
                 function->operands[to->first + n].index == index;
   return gives_it || (to->kind == PTX_OPERAND_REGISTER && to->index == index);
}

/* Whether the operand is one of the harmless numbers, however it is copied and chosen. */
static bool is_harmless_operand(const ptx_function_t *function, const ptx_operand_t *operand,
                                uint32_t depth) {
   bool any = false, harmless = true;
   if (operand->kind == PTX_OPERAND_INTEGER)
      return is_harmless(operand->value);
   if (operand->kind != PTX_OPERAND_REGISTER || depth == DEEPEST)
      return false;
   for (uint32_t n = 0; n < function->statement_count && harmless; n++) {
      const ptx_statement_t *statement = &function->statements[n];
      const ptx_operand_t *operands = &function->operands[statement->operand];
      if (!gives(function, statement, operand->index))
         continue;
      any = true;
      const bool copies =
                    machine_condition_word(statement->opcode, 0, "mov") && statement->operand_count == 2,
                 chooses =
                    machine_condition_word(statement->opcode, 0, "selp") && statement->operand_count == 4;
      harmless = (copies || chooses) && is_harmless_operand(function, &operands[1], depth + 1) &&
                 (copies || is_harmless_operand(function, &operands[2], depth + 1));
   }
   return any && harmless;
}

bool rkb_machine_lasting_policy(const rkb_machine_module_t *module, uint32_t *line, const char **opcode) {
   for (uint32_t f = 0; f < module->function_count; f++) {
      const ptx_function_t *function = &module->functions[f];
      for (uint32_t n = 0; n < function->statement_count; n++) {
         const ptx_statement_t *statement = &function->statements[n];
         if (!statement->operand_count || !strstr(statement->opcode, ".L2::cache_hint"))
            continue;
         const ptx_operand_t *policy = &function->operands[statement->operand + statement->operand_count - 1];
         if (is_harmless_operand(function, policy, 0))
            continue;
         *line = statement->place.ptx_line;
         *opcode = statement->opcode;
         return true;
      }
   }
   return false;
}
