/* Which variables of a module its kernels may write: a table that kernels only read holds the same values at each launch.
 *
 * The address of a variable is followed from register to register, through moves, sums and choices.  Where an address is only ever loaded
 * from, or is the source of copies, nothing writes the variable.  Any other use counts as a write: a store, an atomic operation, the
 * destination or the mbarrier of a copy, a call, an address in memory.  No state. */
#include "machine/decode/written_variables.h"

#include <stdlib.h>
#include <string.h>

static bool begins(const char *opcode, const char *word) {
   const size_t length = strlen(word);
   return strncmp(opcode, word, length) == 0 && (opcode[length] == '.' || opcode[length] == '\0');
}

/* Whether the result is an address within the same variable, or says nothing of it. */
static bool passes_on(const char *opcode) {
   static const char *const words[] = {"mov", "cvta", "add", "sub", "mad", "selp", "cvt"};
   bool passes = false;
   for (size_t n = 0; n < sizeof words / sizeof *words; n++)
      passes |= begins(opcode, words[n]);
   return passes;
}

/* Whether the n-th operand is the source of a copy: `cp.async [to], [from], ...`, `cp.async.bulk [to], [from], ...`.  The source of a tensor copy
 * is a map, which a kernel may change. */
static bool is_copy_source(const char *opcode, uint32_t n) {
   return n == 1 && begins(opcode, "cp.async") && !begins(opcode, "cp.async.bulk.tensor");
}

struct search {
   const ptx_function_t *function;
   uint32_t variable;
   bool *holds; /* by register: it may hold an address in the variable */
   bool more, writes;
};

static bool is_address(const struct search *s, const ptx_operand_t *operand) {
   return (operand->kind == PTX_OPERAND_SYMBOL && operand->index == s->variable) ||
          (operand->kind == PTX_OPERAND_REGISTER && s->holds[operand->index]);
}

static bool names_address(const struct search *s, const ptx_operand_t *operand) {
   bool names = is_address(s, operand);
   if (operand->kind == PTX_OPERAND_ADDRESS)
      names = is_address(s, &s->function->operands[operand->first]);
   for (uint32_t n = 0; operand->kind == PTX_OPERAND_LIST && n < operand->count; n++)
      names |= is_address(s, &s->function->operands[operand->first + n]);
   return names;
}

static void take_statement(struct search *s, const ptx_statement_t *statement) {
   const ptx_operand_t *operands = &s->function->operands[statement->operand];
   bool names = false;
   for (uint32_t k = 0; k < statement->operand_count; k++)
      names |= (k > 0 || !passes_on(statement->opcode)) && !is_copy_source(statement->opcode, k) &&
               names_address(s, &operands[k]);
   if (!names || begins(statement->opcode, "ld") || begins(statement->opcode, "ldu") ||
       begins(statement->opcode, "prefetch") || begins(statement->opcode, "cp.async.bulk.prefetch") ||
       begins(statement->opcode, "setp"))
      return;
   if (!passes_on(statement->opcode) || !statement->operand_count ||
       operands[0].kind != PTX_OPERAND_REGISTER) {
      s->writes = true;
      return;
   }
   s->more |= !s->holds[operands[0].index];
   s->holds[operands[0].index] = true;
}

static bool function_may_write(const ptx_function_t *function, uint32_t variable) {
   struct search s = {.function = function, .variable = variable, .more = true};
   s.holds = calloc(function->register_count + 1, sizeof *s.holds);
   if (!s.holds)
      return true;
   while (s.more && !s.writes) {
      s.more = false;
      for (uint32_t n = 0; n < function->statement_count && !s.writes; n++)
         take_statement(&s, &function->statements[n]);
   }
   free(s.holds);
   return s.writes;
}

bool machine_may_write(const ptx_module_t *module, uint32_t variable) {
   bool may = false;
   if (variable >= module->variable_count)
      return false;
   for (uint32_t n = 0; n < module->variable_count; n++)
      for (uint32_t r = 0; r < module->variables[n].relocation_count; r++)
         may |= module->variables[n].relocations[r].variable == variable;
   for (uint32_t n = 0; n < module->function_count && !may; n++)
      may = function_may_write(&module->functions[n], variable);
   return may;
}
