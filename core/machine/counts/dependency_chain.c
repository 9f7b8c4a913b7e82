/* How much of a warp's work waits for the work before it: the longest chain of dependent instructions through
 * each basic block, weighted by how often the block was executed.  Unrolled code of register tiles adds to dozens of independent sums in turn.  A
 * speed model that took every instruction for dependent would predict that such code is slow (instruction-level parallelism: V.  Volkov,
 * 'Understanding Latency Hiding on GPUs', UC Berkeley 2016, chapter 4).  This file follows registers, not values that go through memory, and looks
 * at each basic block by itself.  It runs only where requests are counted. */
#include "machine/state/execution.h"

#include <stdlib.h>

/* A load from shared memory, or a shuffle, takes about as long as this many dependent instructions (29 clocks
 * against 4.45 on an H200).  This number only chooses between chains; the model charges what the device
 * profile says. */
#define SHARED_STEPS 6
/* The same for a product of matrices: 33 clocks. */
#define TENSOR_STEPS 7

typedef struct chain {
   uint32_t instructions, shared, tensor;
} chain_t;

typedef struct chains {
   chain_t *of;     /* by register of the function: the longest chain that ends in its value */
   uint32_t *block; /* by register: 1 + the block it was written in, or 0 */
   chain_t longest; /* in this block */
} chains_t;

static uint32_t steps(chain_t chain) {
   return chain.instructions + chain.shared * SHARED_STEPS + chain.tensor * TENSOR_STEPS;
}

static chain_t longer(chain_t a, chain_t b) {
   return steps(a) >= steps(b) ? a : b;
}

static chain_t chain_of_register(const chains_t *chains, uint32_t number, uint32_t block) {
   return chains->block[number] == block + 1 ? chains->of[number] : (chain_t){0, 0, 0};
}

static chain_t chain_of_operand(const chains_t *chains, const ptx_function_t *function,
                                const ptx_operand_t *operand, uint32_t block) {
   chain_t chain = {0, 0, 0};
   if (operand->kind == PTX_OPERAND_REGISTER)
      return chain_of_register(chains, operand->index, block);
   const uint32_t count = operand->kind == PTX_OPERAND_LIST      ? operand->count
                          : operand->kind == PTX_OPERAND_ADDRESS ? 1
                                                                 : 0;
   for (uint32_t n = 0; n < count; n++) {
      const ptx_operand_t *part = &function->operands[operand->first + n];
      if (part->kind == PTX_OPERAND_REGISTER)
         chain = longer(chain, chain_of_register(chains, part->index, block));
   }
   return chain;
}

static void end_in(chains_t *chains, const ptx_function_t *function, const ptx_operand_t *operand,
                   uint32_t block, chain_t chain) {
   const bool list = operand->kind == PTX_OPERAND_LIST;
   for (uint32_t n = 0; n < (list ? operand->count : 1); n++) {
      const ptx_operand_t *to = list ? &function->operands[operand->first + n] : operand;
      if (to->kind != PTX_OPERAND_REGISTER)
         continue;
      chains->of[to->index] = chain;
      chains->block[to->index] = block + 1;
   }
}

static bool has_result(const machine_instruction_t *i, const ptx_statement_t *statement) {
   return statement->operand_count > 0 && i->kind <= MACHINE_CUSTOM &&
          strncmp(statement->opcode, "st.", 3) != 0 && strncmp(statement->opcode, "red.", 4) != 0;
}

static void follow(chains_t *chains, const machine_program_t *program, const machine_instruction_t *i) {
   const ptx_function_t *function = &program->module->functions[i->function];
   const ptx_statement_t *statement = &function->statements[i->statement];
   const ptx_operand_t *operands = function->operands + statement->operand;
   const bool result = has_result(i, statement);
   const uint32_t results = !result ? 0 : statement->operand_count > 1 && operands[1].paired ? 2 : 1;
   chain_t chain = {0, 0, 0};
   for (uint32_t n = results; n < statement->operand_count; n++)
      chain = longer(chain, chain_of_operand(chains, function, &operands[n], i->block));
   /* A lane that is not written keeps its value, so the result waits for the old value and the new one. */
   if (statement->guard != PTX_NONE) {
      chain = longer(chain, chain_of_register(chains, statement->guard, i->block));
      for (uint32_t n = 0; n < results; n++)
         chain = longer(chain, chain_of_operand(chains, function, &operands[n], i->block));
   }
   if (result && (i->class == RKB_CLASS_SHARED || i->class == RKB_CLASS_SHUFFLE))
      chain.shared++;
   else if (i->class == RKB_CLASS_TENSOR)
      chain.tensor++;
   else
      chain.instructions++;
   for (uint32_t n = 0; n < results; n++)
      end_in(chains, function, &operands[n], i->block, chain);
   chains->longest = longer(chains->longest, chain);
}

void machine_count_chains(const machine_run_t *run, rkb_launch_counters_t *c) {
   const machine_program_t *program = run->launch->program;
   uint32_t registers = 1;
   double instructions = 0, chained = 0, shared = 0, tensor = 0;
   for (uint32_t n = 0; n < program->module->function_count; n++)
      if (program->module->functions[n].register_count > registers)
         registers = program->module->functions[n].register_count;
   chains_t chains = {.of = calloc(registers, sizeof *chains.of),
                      .block = calloc(registers, sizeof *chains.block)};
   for (uint32_t b = 0; chains.of && chains.block && b < program->block_count; b++) {
      const machine_block_info_t *block = &program->blocks[b];
      const double times = (double)run->counts.block_warps[b];
      if (times == 0)
         continue;
      chains.longest = (chain_t){0, 0, 0};
      for (uint32_t n = 0; n < block->count; n++)
         follow(&chains, program, &program->code[block->first + n]);
      instructions += times * block->count;
      chained += times * chains.longest.instructions;
      shared += times * chains.longest.shared;
      tensor += times * chains.longest.tensor;
   }
   if (instructions > 0) {
      c->chain_instructions = (uint64_t)((double)c->longest_warp * chained / instructions);
      c->chain_shared = (uint64_t)((double)c->longest_warp * shared / instructions);
      c->chain_tensor = (uint64_t)((double)c->longest_warp * tensor / instructions);
   }
   free(chains.of);
   free(chains.block);
}
