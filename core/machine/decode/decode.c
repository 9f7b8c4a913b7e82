/* Turns the statements of a kernel and of the functions that it calls into instructions.  Lays out registers, constants, shared and
 * local memory, and looks opcodes up in the table.  An opcode without a row makes the program unsupported, with its name. */
#include "machine/decode/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In a survey decoding continues after a missing feature.  False: this is no survey. */
static bool tell_missing(decoder_t *decoder) {
   machine_program_t *program = decoder->program;
   if (!decoder->missing || program->failed)
      return false;
   decoder->missing(decoder->missing_argument, program->name, program->unsupported,
                    program->unsupported_line);
   program->unsupported[0] = '\0';
   return true;
}

/* One function ------------------------------------------------------------------------------------------- */

static bool split_opcode(decoder_t *decoder) {
   const char *at = decoder->statement->opcode;
   decoder->modifier_count = 0;
   while (*at) {
      const char *stop = at;
      while (*stop && *stop != '.')
         stop++;
      if (decoder->modifier_count == MAX_MODIFIERS || (size_t)(stop - at) >= sizeof decoder->modifiers[0])
         return decode_unsupported(decoder, decoder->statement->opcode);
      snprintf(decoder->modifiers[decoder->modifier_count++], sizeof decoder->modifiers[0], "%.*s",
               (int)(stop - at), at);
      at = *stop ? stop + 1 : stop;
   }
   return true;
}

static machine_instruction_t *emit(decoder_t *decoder) {
   machine_program_t *program = decoder->program;
   machine_instruction_t *i =
      decode_append(decoder, (void **)&program->code, &program->count, &decoder->code_room, sizeof *i);
   if (i)
      *i = decoder->instruction;
   return i;
}

static void define(decoder_t *decoder, const ptx_operand_t *operand, uint32_t statement, uint32_t depth) {
   if (operand->kind == PTX_OPERAND_REGISTER && decoder->definitions[operand->index] < 2) {
      decoder->definitions[operand->index]++;
      decoder->definition[operand->index] = statement;
   }
   for (uint32_t n = 0; operand->kind == PTX_OPERAND_LIST && depth < 4 && n < operand->count; n++)
      define(decoder, &decoder->function->operands[operand->first + n], statement, depth + 1);
}

/* Finds the registers that only ever hold one constant of rounding size. */
static bool find_large_constants(decoder_t *decoder) {
   const ptx_function_t *function = decoder->function;
   free(decoder->definitions);
   free(decoder->definition);
   free(decoder->rounds);
   free(decoder->large);
   decoder->definition = calloc(function->register_count + 1, sizeof *decoder->definition);
   decoder->rounds = calloc(function->statement_count + 1, 1);
   decoder->definitions = calloc(function->register_count + 1, 1);
   decoder->large = calloc(function->register_count + 1, sizeof *decoder->large);
   if (!decoder->definitions || !decoder->definition || !decoder->rounds || !decoder->large)
      return decode_out_of_memory(decoder);
   for (uint32_t n = 0; n < function->statement_count; n++) {
      const ptx_statement_t *statement = &function->statements[n];
      const ptx_operand_t *operands = function->operands + statement->operand;
      if (!statement->operand_count || strncmp(statement->opcode, "st.", 3) == 0)
         continue;
      define(decoder, &operands[0], n, 0);
      if (statement->operand_count > 1 && operands[1].paired)
         define(decoder, &operands[1], n, 0);
      if (operands[0].kind == PTX_OPERAND_REGISTER && statement->operand_count == 2 &&
          strncmp(statement->opcode, "mov.", 4) == 0 && operands[1].kind == PTX_OPERAND_FLOAT32)
         decoder->large[operands[0].index] = decode_rounding_size((uint32_t)operands[1].value);
   }
   return true;
}

/* Finds where lanes may enter, and how far the function goes before any lane may branch. */
static bool mark_labels(decoder_t *decoder) {
   const ptx_function_t *function = decoder->function;
   free(decoder->labelled);
   decoder->labelled = calloc(function->statement_count + 1, 1);
   if (!decoder->labelled)
      return decode_out_of_memory(decoder);
   for (uint32_t n = 0; n < function->label_count; n++)
      if (function->labels[n].statement <= function->statement_count)
         decoder->labelled[function->labels[n].statement] = 1;
   decoder->block_start = decoder->straight = 0;
   while (decoder->straight < function->statement_count &&
          strncmp(function->statements[decoder->straight].opcode, "br", 2) != 0)
      decoder->straight++;
   return true;
}

static bool decode_statement(decoder_t *decoder, uint32_t n) {
   const ptx_statement_t *statement = &decoder->function->statements[n];
   decoder->block_start = decoder->labelled[n] ? n : decoder->block_start;
   decoder->statement = statement;
   decoder->operands = decoder->function->operands + statement->operand;
   decoder->instruction = (machine_instruction_t){.statement = n,
                                                  .function = (uint16_t)decoder->function_index,
                                                  .run = decoder->none,
                                                  .extra = decoder->program->extra_count};
   if (statement->guard != PTX_NONE) {
      decoder->instruction.guard = decode_function_register(decoder, statement->guard).number;
      decoder->instruction.guard_negated = statement->guard_negated;
   }
   if (!split_opcode(decoder))
      return false;
   enum decode_result result = decode_form(decoder);
   if (result == DECODE_GENERIC) {
      if (!decode_generic(decoder))
         return false;
      if (decoder->rounds[n])
         decoder->instruction.shadow =
            decode_lookup(decoder, decoder->rounds[n] == DECODE_ROUNDS ? "shadow.keep" : "shadow.scale")
               ->shadow;
   }
   return result != DECODE_FAILED && emit(decoder);
}

/* A statement that cannot be decoded is reported and dropped. */
static bool pass_over(decoder_t *decoder, uint32_t statement) {
   if (!tell_missing(decoder))
      return false;
   decoder->instruction = (machine_instruction_t){.kind = MACHINE_NOTHING,
                                                  .class = RKB_CLASS_OTHER,
                                                  .run = decoder->none,
                                                  .function = (uint16_t)decoder->function_index,
                                                  .statement = statement};
   return emit(decoder);
}

static bool decode_function(decoder_t *decoder, uint32_t index) {
   machine_program_t *program = decoder->program;
   const ptx_function_t *function = &decoder->module->functions[index];
   decoder->function = function;
   decoder->function_index = index;
   decoder->function_pc[index] = program->count;
   if (!find_large_constants(decoder) || !mark_labels(decoder))
      return false;
   decode_find_rounding(decoder);
   uint32_t first_target = decoder->target_count, first = program->count;
   for (uint32_t n = 0; n < function->statement_count; n++) {
      if (decode_statement(decoder, n))
         continue;
      /* A partly decoded kernel has no end, so it must never be executed, even if no reason was recorded. */
      if (!program->failed)
         decode_unsupported(decoder, function->statements[n].opcode);
      if (!pass_over(decoder, n))
         return false;
   }
   decoder->instruction =
      (machine_instruction_t){.kind = function->entry ? MACHINE_EXIT : MACHINE_RETURN,
                              .class = RKB_CLASS_CONTROL,
                              .run = decoder->none,
                              .function = (uint16_t)index,
                              .statement = function->statement_count ? function->statement_count - 1 : 0};
   if (!emit(decoder))
      return false;
   /* Statements and instructions correspond one to one: labels become instructions. */
   for (uint32_t n = first; n < program->count; n++)
      if (program->code[n].kind == MACHINE_BRANCH)
         program->code[n].target = first + function->labels[program->code[n].target].statement;
   for (uint32_t n = first_target; n < decoder->target_count; n++)
      decoder->targets[n] = first + function->labels[decoder->targets[n]].statement;
   return true;
}

/* Layout --------------------------------------------------------------------------------------------------- */

static void reach(decoder_t *decoder, uint32_t index) {
   if (decoder->function_pc[index] != PTX_NONE)
      return;
   decoder->function_pc[index] = 0;
   decoder->order[decoder->order_count++] = index;
}

static void reach_all(decoder_t *decoder, uint32_t entry) {
   reach(decoder, entry);
   for (uint32_t n = 0; n < decoder->order_count; n++) {
      const ptx_function_t *function = &decoder->module->functions[decoder->order[n]];
      for (uint32_t k = 0; k < function->operand_count; k++)
         if (function->operands[k].kind == PTX_OPERAND_FUNCTION &&
             decoder->module->functions[function->operands[k].index].defined)
            reach(decoder, function->operands[k].index);
   }
}

static void lay_out_frames(decoder_t *decoder) {
   uint64_t frame = 0;
   for (uint32_t n = 0; n < decoder->order_count; n++) {
      uint32_t index = decoder->order[n];
      uint64_t bytes = 0;
      for (uint32_t v = 0; v < decoder->module->variable_count; v++) {
         const ptx_variable_t *variable = &decoder->module->variables[v];
         if (variable->function == index && (variable->space == PTX_LOCAL || variable->space == PTX_PARAM) &&
             variable->offset + variable->bytes > bytes)
            bytes = variable->offset + variable->bytes;
      }
      frame = (frame + 63) & ~63ull;
      decoder->function_frame[index] = (uint32_t)frame;
      frame += bytes;
   }
   decoder->program->frame_bytes = (uint32_t)((frame + 63) & ~63ull);
}

static bool number_registers(decoder_t *decoder) {
   if (!decode_add_register(decoder, PTX_B64, 8, "zero") ||
       !decode_add_register(decoder, PTX_B64, 8, "nowhere"))
      return false;
   decoder->program->registers[0].constant = true;
   for (uint32_t n = 0; n < decoder->order_count; n++) {
      uint32_t index = decoder->order[n];
      const ptx_function_t *function = &decoder->module->functions[index];
      decoder->function_registers[index] = decoder->program->register_count;
      for (uint32_t r = 0; r < function->register_count; r++) {
         uint32_t type = function->registers[r].type, bytes = ptx_type_bytes(type);
         if (bytes > 8 && !decode_unsupported(decoder, "128-bit registers") && !tell_missing(decoder))
            return false;
         if (!decode_add_register(decoder, type,
                                  type == PTX_PRED ? 0
                                  : bytes == 8     ? 8
                                                   : 4,
                                  function->registers[r].name))
            return false;
      }
   }
   return true;
}

/* Whether another run on the same device may give the register another value (PTX ISA 9.0, 10.4 to 10.9, and
 * activemask in 9.7.13). */
static bool tells_place(uint32_t special) {
   return special == PTX_SPECIAL_WARPID || special == PTX_SPECIAL_NWARPID || special == PTX_SPECIAL_SMID ||
          special == PTX_SPECIAL_NSMID || special == PTX_SPECIAL_GRIDID;
}

/* Finds the properties of the code that decide how races are followed. */
static void survey(machine_program_t *program) {
   program->shared_granule = program->global_granule = 4;
   program->narrow_shared |= program->small_operations;
   for (uint32_t n = 0; n < program->register_count; n++)
      program->placed |= tells_place(program->registers[n].special);
   for (uint32_t n = 0; n < program->count; n++) {
      const machine_instruction_t *i = &program->code[n];
      const ptx_function_t *function = &program->module->functions[i->function];
      program->placed |= function->statement_count &&
                         strncmp(function->statements[i->statement].opcode, "activemask", 10) == 0;
      program->strong |= i->kind == MACHINE_CUSTOM && i->element_bytes &&
                         (i->flags & (FLAG_VOLATILE | FLAG_RELAXED | FLAG_ACQUIRE | FLAG_RELEASE)) != 0;
      program->signals |=
         (i->space == PTX_SHARED || i->space == PTX_GENERIC) &&
         (i->class == RKB_CLASS_ATOMIC || i->flags & (FLAG_RELAXED | FLAG_ACQUIRE | FLAG_RELEASE));
      program->volatile_shared |= i->class == RKB_CLASS_SHARED && (i->flags & FLAG_VOLATILE);
      if (!i->element_bytes ||
          (i->class != RKB_CLASS_GLOBAL && i->class != RKB_CLASS_SHARED && i->class != RKB_CLASS_ATOMIC))
         continue;
      if (i->space != PTX_GLOBAL && i->element_bytes < program->shared_granule)
         program->shared_granule = i->element_bytes;
      program->narrow_shared |=
         i->space != PTX_GLOBAL && (i->class == RKB_CLASS_ATOMIC || i->element_bytes * i->elements < 16);
      if (i->space != PTX_SHARED && i->element_bytes < program->global_granule)
         program->global_granule = i->element_bytes;
   }
}

static bool list_constants(decoder_t *decoder) {
   machine_program_t *program = decoder->program;
   program->constants = calloc(program->register_count, sizeof *program->constants);
   if (!program->constants)
      return decode_out_of_memory(decoder);
   for (int specials = 1; specials >= 0; specials--) {
      for (uint32_t n = 0; n < program->register_count; n++)
         if (program->registers[n].constant && (program->registers[n].special != PTX_NONE) == specials)
            program->constants[program->constant_count++] = (uint16_t)n;
      if (specials)
         program->special_count = program->constant_count;
   }
   return true;
}

static void mark_plain(machine_program_t *program) {
   for (uint32_t n = 0; n < program->count; n++) {
      machine_instruction_t *i = &program->code[n];
      i->plain = i->kind == MACHINE_VALUE && !i->guard && !i->extra_count && !(i->flags & FLAG_TOUCHES);
   }
}

static bool make(decoder_t *decoder, uint32_t entry) {
   const ptx_module_t *module = decoder->module;
   decoder->function_pc = malloc((module->function_count + 1) * sizeof *decoder->function_pc);
   decoder->function_registers = calloc(module->function_count + 1, sizeof *decoder->function_registers);
   decoder->function_frame = malloc((module->function_count + 1) * sizeof *decoder->function_frame);
   decoder->order = calloc(module->function_count + 1, sizeof *decoder->order);
   decoder->shared_offset = calloc(module->variable_count + 1, sizeof *decoder->shared_offset);
   decoder->constant_slots = 1u << 17;
   decoder->constant_index = calloc(decoder->constant_slots, sizeof *decoder->constant_index);
   if (!decoder->function_pc || !decoder->function_registers || !decoder->function_frame || !decoder->order ||
       !decoder->shared_offset || !decoder->constant_index)
      return decode_out_of_memory(decoder);
   memset(decoder->function_pc, 0xff, (module->function_count + 1) * sizeof *decoder->function_pc);
   memset(decoder->function_frame, 0xff, (module->function_count + 1) * sizeof *decoder->function_frame);
   reach_all(decoder, entry);
   if (!decode_index_opcodes(decoder) || !decode_lay_out_shared(decoder) || !number_registers(decoder))
      return false;
   lay_out_frames(decoder);
   for (uint32_t n = 0; n < decoder->order_count; n++)
      if (!decode_function(decoder, decoder->order[n]))
         return false;
   machine_program_t *program = decoder->program;
   for (uint32_t n = 0; n < program->count; n++)
      if (program->code[n].kind == MACHINE_CALL)
         program->code[n].target = decoder->function_pc[program->code[n].target];
   survey(program);
   if (!list_constants(decoder) || !decode_touches(decoder))
      return false;
   program->branch_targets = decoder->targets;
   machine_divide_pieces(program);
   if (!machine_control_flow(program) || !machine_mark_pieces(program) || !machine_find_waits(program) ||
       !machine_find_signal_loads(program) || !machine_find_seen_arrivals(program) ||
       !machine_place_registers(program))
      return decode_out_of_memory(decoder);
   mark_plain(program);
   return true;
}

static machine_program_t *decode_program(const ptx_module_t *module, uint32_t function,
                                         const uint64_t *variable_address, machine_opcodes_t *opcodes,
                                         machine_missing_t *missing, void *argument) {
   machine_program_t *program = calloc(1, sizeof *program);
   if (!program)
      return NULL;
   program->module = module;
   program->entry = &module->functions[function];
   program->name = program->entry->name;
   program->parameter_bytes = program->entry->parameter_bytes;
   decoder_t decoder = {.program = program,
                        .module = module,
                        .variable_address = variable_address,
                        .missing = missing,
                        .missing_argument = argument};
   decoder.opcodes = opcodes(&decoder.opcode_count);
   if (!make(&decoder, function) && !program->unsupported[0])
      program->failed = true;
   program->branch_targets = decoder.targets;
   free(decoder.function_pc);
   free(decoder.function_registers);
   free(decoder.function_frame);
   free(decoder.order);
   free(decoder.shared_offset);
   free(decoder.constant_index);
   free(decoder.index);
   free(decoder.definitions);
   free(decoder.definition);
   free(decoder.rounds);
   free(decoder.large);
   free(decoder.labelled);
   return program;
}

machine_program_t *machine_program_make(const ptx_module_t *module, uint32_t function,
                                        const uint64_t *variable_address, machine_opcodes_t *opcodes) {
   return decode_program(module, function, variable_address, opcodes, NULL, NULL);
}

bool machine_program_survey(const ptx_module_t *module, uint32_t function, const uint64_t *variable_address,
                            machine_opcodes_t *opcodes, machine_missing_t *missing, void *argument) {
   machine_program_t *program =
      decode_program(module, function, variable_address, opcodes, missing, argument);
   const bool done = program && !program->failed;
   if (done && program->unsupported[0]) /* the reason is about the whole kernel */
      missing(argument, program->name, program->unsupported, program->unsupported_line);
   machine_program_free(program);
   return done;
}

machine_program_t *machine_program_lone(const ptx_module_t *module, const uint64_t *variable_address,
                                        machine_opcodes_t *opcodes, machine_missing_t *missing,
                                        void *argument) {
   return decode_program(module, 0, variable_address, opcodes, missing, argument);
}

void machine_program_free(machine_program_t *program) {
   if (!program)
      return;
   free(program->code);
   free(program->constants);
   free(program->extras);
   free(program->tensors);
   free(program->warpgroup_forms);
   free(program->touches);
   free(program->touch_first);
   free(program->registers);
   free(program->blocks);
   free(program->call_arguments);
   free(program->shared);
   free(program->branch_targets);
   free(program);
}
