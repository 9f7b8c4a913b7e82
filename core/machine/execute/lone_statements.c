/* Executes single statements of a kernel for threads that all have the same values (decode/split_statements.h).
 *
 * The statements of a list are decoded as the text of a kernel of their own, in which no two statements name a common register.  One warp then
 * executes one of them, by the handler that also executes it in runs.  So what a statement means is said once.  Only statements are executed that
 * touch no memory and end at their results.  The list owns its warp; one thread. */
#include "machine/decode/conditions.h"
#include "machine/lanes/opcodes.h"
#include "machine/state/execution.h"

#include <stdlib.h>
#include <string.h>

struct statement {
   uint32_t first_register; /* of its own: its results, and then its sources */
   uint32_t result_count, source_count;
   bool takes_carry, leaves_carry;
   bool among_threads; /* the last source says which threads take part */
   bool of_whole_warp;
   bool executed; /* the machine has a handler for it */
};

struct lone_list {
   machine_lone_t lone; /* what others see; first */
   ptx_module_t module; /* with one function */
   ptx_function_t function;
   machine_program_t *program;
   struct statement *statements;
   uint32_t count;
   machine_run_t *run;
   machine_launch_t launch;
   machine_warp_t warp;
};

/* Writing --------------------------------------------------------------------------------------------------------------- */

static bool is_one_of(const char *opcode, const char *const *words, uint32_t count) {
   bool is = false;
   for (uint32_t n = 0; n < count && !is; n++)
      is = machine_condition_word(opcode, 0, words[n]);
   return is;
}

/* Gives the operand a register of the statement's own. */
static ptx_operand_t own(struct lone_list *l, const ptx_function_t *from, const ptx_operand_t *operand) {
   ptx_operand_t one = *operand;
   const bool is_register = operand->kind == PTX_OPERAND_REGISTER;
   if (is_register || operand->kind == PTX_OPERAND_SPECIAL) {
      one.kind = PTX_OPERAND_REGISTER;
      one.index = l->function.register_count;
   }
   /* every operand has a number, whether it is a register or not */
   l->function.registers[l->function.register_count++] =
      (ptx_register_t){.name = "%own", .type = is_register ? from->registers[operand->index].type : PTX_U32};
   return one;
}

/* Copies an operand, which may be a list.  The list's operands were written before: next is the first of these. */
static ptx_operand_t whole(struct lone_list *l, const ptx_operand_t *operand, uint32_t *next) {
   ptx_operand_t one = *operand;
   if (operand->kind == PTX_OPERAND_LIST) {
      one.first = *next;
      *next += operand->count;
   } else {
      one = l->function.operands[(*next)++];
   }
   one.paired = operand->paired;
   return one;
}

static void write_statement(struct lone_list *l, const ptx_function_t *from,
                            const ptx_statement_t *statement) {
   static const char *const among[] = {"vote", "match", "redux"}, *const together[] = {"mma"};
   const ptx_operand_t *results[MOST_SPLIT_RESULTS], *sources[MOST_SPLIT_SOURCES],
      *operands = &from->operands[statement->operand];
   ptx_function_t *f = &l->function;
   struct statement *s = &l->statements[f->statement_count];
   (void)machine_split_results(from, statement, results, &s->result_count);
   (void)machine_split_sources(from, statement, sources, &s->source_count);
   s->first_register = f->register_count;
   s->takes_carry = machine_takes_carry(statement);
   s->leaves_carry = machine_leaves_carry(statement);
   s->among_threads = is_one_of(statement->opcode, among, sizeof among / sizeof *among);
   s->of_whole_warp = is_one_of(statement->opcode, together, sizeof together / sizeof *together);
   s->executed = true;
   uint32_t next = f->operand_count;
   for (uint32_t k = 0; k < s->result_count; k++)
      f->operands[f->operand_count++] = own(l, from, results[k]);
   for (uint32_t k = 0; k < s->source_count; k++)
      f->operands[f->operand_count++] = own(l, from, sources[k]);
   ptx_statement_t one = *statement;
   one.guard = PTX_NONE;
   one.operand = f->operand_count;
   one.place = (ptx_place_t){.ptx_line = f->statement_count};
   for (uint32_t k = 0; k < statement->operand_count; k++)
      f->operands[f->operand_count++] = whole(l, &operands[k], &next);
   f->statements[f->statement_count++] = one;
}

static void take_missing(void *argument, const char *kernel, const char *what, uint32_t line) {
   struct lone_list *l = argument;
   (void)kernel;
   (void)what;
   if (line < l->count)
      l->statements[line].executed = false;
}

/* The registers -------------------------------------------------------------------------------------------------------- */

static void fill(machine_warp_t *warp, const machine_register_info_t *info, uint64_t value) {
   if (info->bytes == 0) {
      const uint32_t lanes = info->constant ? (uint32_t)value : value & 1 ? FULL_MASK : 0;
      memcpy(warp->registers + info->offset, &lanes, sizeof lanes);
   }
   if (info->bytes && info->type != PTX_NO_TYPE && !info->constant && ptx_type_bytes(info->type) < 8)
      value &= (UINT64_C(1) << 8 * ptx_type_bytes(info->type)) - 1;
   for (uint32_t lane = 0; lane < LANES && info->bytes == 8; lane++)
      LANES_OF(uint64_t, info->offset)[lane] = value;
   for (uint32_t lane = 0; lane < LANES && info->bytes == 4; lane++)
      LANES_OF(uint32_t, info->offset)[lane] = (uint32_t)value;
}

static uint64_t in_lane(const machine_warp_t *warp, const machine_register_info_t *info, uint32_t lane) {
   const uint8_t *at = warp->registers + info->offset;
   return info->bytes == 8   ? ((const uint64_t *)at)[lane]
          : info->bytes == 4 ? ((const uint32_t *)at)[lane]
                             : (uint64_t)(*(const uint32_t *)at >> lane & 1);
}

static bool open_warp(struct lone_list *l) {
   const machine_program_t *program = l->program;
   const size_t bytes = ((size_t)program->file_bytes + 127) & ~(size_t)63;
   l->run = calloc(1, sizeof *l->run);
   l->warp.registers = aligned_alloc(64, bytes);
   l->warp.defined = calloc((size_t)program->register_count + 1, sizeof *l->warp.defined);
   if (!l->run || !l->warp.registers || !l->warp.defined)
      return false;
   memset(l->warp.registers, 0, bytes);
   l->launch = (machine_launch_t){.run = l->run, .program = program};
   l->run->module = &l->module;
   l->run->launch = &l->launch;
   l->run->block.run = l->run;
   l->run->block.launch = &l->launch;
   l->warp.run = l->run;
   l->warp.block = &l->run->block;
   l->warp.program = program;
   for (uint32_t n = 0; n < program->constant_count; n++)
      fill(&l->warp, &program->registers[program->constants[n]],
           program->registers[program->constants[n]].bits);
   return true;
}

/* Lists ----------------------------------------------------------------------------------------------------------------- */

static void free_list(machine_lone_t *lone) {
   struct lone_list *l = (struct lone_list *)lone;
   machine_program_free(l->program);
   free(l->function.registers);
   free(l->function.operands);
   free(l->function.statements);
   free(l->statements);
   free(l->warp.registers);
   free(l->warp.defined);
   free(l->run);
   free(l);
}

static const machine_register_info_t *register_at(const struct lone_list *l, uint32_t index) {
   return &l->program->registers[2 + index]; /* after the two that every program has */
}

static bool apply(machine_lone_t *lone, uint32_t number, const uint64_t *sources, uint32_t lanes,
                  uint32_t result, uint64_t *value) {
   struct lone_list *l = (struct lone_list *)lone;
   const struct statement *s = &l->statements[number];
   const machine_instruction_t *i = &l->program->code[number];
   uint32_t mask = lanes >= LANES ? FULL_MASK : (1u << lanes) - 1;
   if (!s->executed)
      return false;
   if (s->among_threads)
      mask &= (uint32_t)sources[s->source_count - 1];
   if (!mask || (s->of_whole_warp && mask != FULL_MASK))
      return false;
   memset(l->warp.defined, 0xff, (size_t)l->program->register_count * sizeof *l->warp.defined);
   for (uint32_t k = 0; k < s->source_count; k++)
      fill(&l->warp, register_at(l, s->first_register + s->result_count + k), sources[k]);
   l->warp.alive = mask;
   l->warp.carry = s->takes_carry && sources[s->source_count] & 1 ? FULL_MASK : 0;
   l->warp.carry_defined = FULL_MASK;
   i->run(&l->warp, i, mask);
   const uint32_t first = (uint32_t)__builtin_ctz(mask), index = s->first_register + result;
   if (result == s->result_count) {
      *value = l->warp.carry >> first & 1;
      return s->leaves_carry;
   }
   const machine_register_info_t *info = register_at(l, index);
   bool same = (l->warp.defined[2 + index] & mask) == mask;
   *value = in_lane(&l->warp, info, first);
   for (uint32_t lane = 0; lane < LANES && same; lane++)
      same = !(mask >> lane & 1) || in_lane(&l->warp, info, lane) == *value;
   return same;
}

static machine_lone_t *make(const ptx_module_t *module, const ptx_function_t *function,
                            const ptx_statement_t *const *statements, uint32_t count) {
   struct lone_list *l = calloc(1, sizeof *l);
   const size_t room = (size_t)count * (MOST_SPLIT_RESULTS + MOST_SPLIT_SOURCES) + 1;
   const uint64_t no_variable = 0;
   if (!l)
      return NULL;
   l->lone = (machine_lone_t){apply, free_list};
   l->count = count;
   l->module = *module;
   l->module.functions = &l->function;
   l->module.function_count = 1;
   l->module.variable_count = 0;
   l->function = (ptx_function_t){.name = function->name, .entry = true, .defined = true};
   l->function.registers = calloc(room, sizeof *l->function.registers);
   l->function.operands = calloc(2 * room, sizeof *l->function.operands);
   l->function.statements = calloc((size_t)count + 1, sizeof *l->function.statements);
   l->statements = calloc((size_t)count + 1, sizeof *l->statements);
   if (!l->function.registers || !l->function.operands || !l->function.statements || !l->statements)
      goto failed;
   for (uint32_t n = 0; n < count; n++)
      write_statement(l, function, statements[n]);
   l->program = machine_program_lone(&l->module, &no_variable, machine_opcodes_portable, take_missing, l);
   if (!l->program || l->program->failed || !open_warp(l))
      goto failed;
   for (uint32_t n = 0; n < count; n++)
      l->statements[n].executed &= n < l->program->count && (l->program->code[n].kind == MACHINE_VALUE ||
                                                             l->program->code[n].kind == MACHINE_CUSTOM);
   return &l->lone;
failed:
   free_list(&l->lone);
   return NULL;
}

/* Conditions whose statements are executed so --------------------------------------------------------------------------- */

rkb_machine_conditions_t *rkb_machine_conditions_new(const rkb_machine_module_t *module, const char *entry) {
   return machine_conditions_read(module, entry, OF_LAUNCHES, make);
}

rkb_machine_conditions_t *rkb_machine_results_new(const rkb_machine_module_t *module, const char *entry,
                                                  const uint64_t places[2],
                                                  const rkb_machine_conditions_t *like) {
   rkb_machine_conditions_t *c = machine_conditions_read(module, entry, OF_ONE_THREAD, make);
   if (c) {
      c->place = places[0];
      c->other_place = places[1];
   }
   for (uint32_t n = 0; c && like && n < c->count && n < like->count; n++)
      c->steps[n] = like->steps[n];
   return c;
}

rkb_machine_conditions_t *rkb_machine_block_conditions_new(const rkb_machine_module_t *module,
                                                           const char *entry) {
   rkb_machine_conditions_t *c = machine_conditions_read(module, entry, OF_BLOCKS, make);
   if (c && machine_block_conditions_keep(c))
      return c;
   rkb_machine_conditions_free(c);
   return NULL;
}
