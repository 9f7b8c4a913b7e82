/* Registers, constants and operands of the program being decoded: which slot of the register file holds the register that an instruction
 * names.  Part of the decoder. */
#include "machine/decode/decode.h"

#include <stdlib.h>
#include <string.h>

/* Makes room in an array that doubles; returns the element to fill, or NULL. */
void *decode_append(decoder_t *decoder, void **array, uint32_t *count, uint32_t *room, size_t size) {
   if (*count == *room) {
      uint32_t larger_room = *room ? 2 * *room : 256;
      void *larger = realloc(*array, larger_room * size);
      if (!larger) {
         decode_out_of_memory(decoder);
         return NULL;
      }
      *array = larger;
      *room = larger_room;
   }
   void *element = (uint8_t *)*array + *count * size;
   memset(element, 0, size);
   (*count)++;
   return element;
}

/* Registers -------------------------------------------------------------------------------------------- */

static machine_slot_t slot_of(const decoder_t *decoder, uint32_t number) {
   const machine_register_info_t *info = &decoder->program->registers[number];
   return (machine_slot_t){info->offset, (uint16_t)number, info->bytes, false};
}

machine_register_info_t *decode_add_register(decoder_t *decoder, uint32_t type, uint32_t bytes,
                                             const char *name) {
   machine_program_t *program = decoder->program;
   uint32_t room = program->register_count; /* grows at powers of two */
   if ((room & (room - 1)) == 0) {
      machine_register_info_t *larger = realloc(program->registers, (room ? 2 * room : 64) * sizeof *larger);
      if (!larger) {
         decode_out_of_memory(decoder);
         return NULL;
      }
      program->registers = larger;
   }
   if (program->register_count >= UINT16_MAX) {
      decode_unsupported(decoder, "more than 65534 registers and constants");
      return NULL;
   }
   machine_register_info_t *info = &program->registers[program->register_count++];
   *info = (machine_register_info_t){.offset = program->file_bytes,
                                     .type = (uint8_t)type,
                                     .bytes = (uint8_t)bytes,
                                     .special = PTX_NONE,
                                     .name = name};
   program->file_bytes += bytes == 8 ? 256 : bytes ? 128 : 64;
   return info;
}

static machine_slot_t constant_of(decoder_t *decoder, uint64_t bits, uint32_t bytes, bool shared_address) {
   machine_program_t *program = decoder->program;
   uint64_t hash = (bits * 0x9e3779b97f4a7c15ull) ^ bytes * 0x51ed270b;
   for (uint32_t probe = 0; probe < decoder->constant_slots; probe++) {
      uint32_t *entry = &decoder->constant_index[((hash >> 40) + probe) % decoder->constant_slots];
      if (*entry) {
         const machine_register_info_t *info = &program->registers[*entry];
         if (info->bits == bits && info->bytes == bytes && info->shared_address == shared_address)
            return slot_of(decoder, *entry);
         continue;
      }
      machine_register_info_t *info = decode_add_register(decoder,
                                                          bytes == 8 ? PTX_B64
                                                          : bytes    ? PTX_B32
                                                                     : PTX_PRED,
                                                          bytes, "constant");
      if (!info)
         break;
      info->constant = true;
      info->bits = bits;
      info->shared_address = shared_address;
      *entry = program->register_count - 1;
      return slot_of(decoder, *entry);
   }
   decode_unsupported(decoder, "more than 65534 registers and constants");
   return slot_of(decoder, 0);
}

machine_slot_t decode_constant(decoder_t *decoder, uint64_t bits, uint32_t bytes) {
   return constant_of(decoder, bits, bytes, false);
}

machine_slot_t decode_nowhere(const decoder_t *decoder, uint32_t bytes) {
   machine_slot_t slot = slot_of(decoder, NOWHERE_REGISTER);
   slot.bytes = (uint8_t)bytes;
   return slot;
}

static machine_slot_t special_register(decoder_t *decoder, uint32_t special) {
   machine_program_t *program = decoder->program;
   for (uint32_t i = 2; i < program->register_count; i++)
      if (program->registers[i].special == special)
         return slot_of(decoder, i);
   static const char *const names[] = {
#define PTX_X(name, text) text,
      PTX_SPECIALS(PTX_X)
#undef PTX_X
   };
   const bool predicate = special == PTX_SPECIAL_CLUSTER_EXPLICIT;
   machine_register_info_t *info =
      decode_add_register(decoder, predicate ? PTX_PRED : PTX_U32, predicate ? 0 : 4, names[special]);
   if (!info)
      return slot_of(decoder, 0);
   info->constant = true;
   info->special = special;
   return slot_of(decoder, program->register_count - 1);
}

/* Returns a symbol's address as a number: an offset for shared, local and param, else a full address. */
static bool symbol_address(decoder_t *decoder, const ptx_operand_t *operand, uint64_t *address) {
   const ptx_variable_t *variable = &decoder->module->variables[operand->index];
   switch (variable->space) {
   case PTX_SHARED:
      *address = decoder->shared_offset[operand->index];
      break;
   case PTX_GLOBAL:
   case PTX_CONST:
      *address = decoder->variable_address[operand->index];
      break;
   case PTX_LOCAL:
   case PTX_PARAM:
      if (variable->function == PTX_NONE || decoder->function_frame[variable->function] == PTX_NONE)
         return decode_unsupported(decoder, "a local variable of another function");
      *address = variable->offset;
      if (variable->space == PTX_LOCAL || !decoder->module->functions[variable->function].entry)
         *address += decoder->function_frame[variable->function];
      break;
   default:
      return decode_unsupported(decoder, "a symbol without a space");
   }
   *address += operand->value;
   return true;
}

uint32_t decode_declared_bytes(const decoder_t *decoder, const ptx_operand_t *operand) {
   return operand->kind == PTX_OPERAND_REGISTER
             ? ptx_type_bytes(decoder->function->registers[operand->index].type)
             : 0;
}

machine_slot_t decode_function_register(const decoder_t *decoder, uint32_t index) {
   return slot_of(decoder, decoder->function_registers[decoder->function_index] + index);
}

static bool is_wide(char letter) {
   return letter == 'l' || letter == 'D';
}

static bool register_fits(const decoder_t *decoder, uint32_t index, char letter) {
   uint32_t type = decoder->function->registers[index].type;
   if (letter == 'p' || letter == 'q')
      return type == PTX_PRED;
   uint32_t bytes = ptx_type_bytes(type);
   return is_wide(letter) ? bytes == 8 : bytes && bytes <= 4;
}

static uint64_t float_constant(const ptx_operand_t *operand, char letter) {
   double wide;
   float narrow;
   if (operand->kind == PTX_OPERAND_FLOAT32 && letter == 'D') {
      uint32_t bits = (uint32_t)operand->value;
      memcpy(&narrow, &bits, sizeof narrow);
      wide = narrow;
      uint64_t result;
      memcpy(&result, &wide, sizeof result);
      return result;
   }
   if (operand->kind == PTX_OPERAND_FLOAT64 && letter == 'f') {
      memcpy(&wide, &operand->value, sizeof wide);
      narrow = (float)wide;
      uint32_t bits;
      memcpy(&bits, &narrow, sizeof bits);
      return bits;
   }
   return operand->value;
}

bool decode_operand(decoder_t *decoder, const ptx_operand_t *operand, char letter, machine_slot_t *slot) {
   const uint32_t bytes = is_wide(letter) ? 8 : letter == 'p' || letter == 'q' ? 0 : 4;
   uint64_t address;
   switch (operand->kind) {
   case PTX_OPERAND_REGISTER:
      if (!register_fits(decoder, operand->index, letter) || (operand->negated && letter != 'q'))
         return decode_unsupported(decoder, "an operand of another size than its opcode's type");
      *slot = decode_function_register(decoder, operand->index);
      slot->negated = operand->negated;
      return true;
   case PTX_OPERAND_INTEGER:
   case PTX_OPERAND_FLOAT32:
   case PTX_OPERAND_FLOAT64: {
      uint64_t bits = float_constant(operand, letter);
      if (bytes == 0)
         bits = bits ? FULL_MASK : 0;
      *slot = decode_constant(decoder, bytes == 8 ? bits : bits & FULL_MASK, bytes);
      return true;
   }
   case PTX_OPERAND_SYMBOL:
      if (!symbol_address(decoder, operand, &address))
         return false;
      if (bytes == 0 || (bytes == 4 && address > FULL_MASK))
         return decode_unsupported(decoder, "an address in a register too small for it");
      *slot = constant_of(decoder, address, bytes, decoder->module->variables[operand->index].space == PTX_SHARED);
      return true;
   case PTX_OPERAND_SPECIAL:
      if (bytes != (operand->value == PTX_SPECIAL_CLUSTER_EXPLICIT ? 0 : 4) ||
          operand->value == PTX_SPECIAL_CLOCK64 || operand->value == PTX_SPECIAL_GLOBALTIMER)
         return decode_unsupported(decoder, "a special register in this place");
      *slot = special_register(decoder, (uint32_t)operand->value);
      return true;
   default:
      return decode_unsupported(decoder, operand->kind == PTX_OPERAND_FUNCTION ? "function pointer" : "this form of operand");
   }
}

/* Whether the same lanes execute an earlier statement on every path to the current one: no label lies between
 * them, or no branch bypasses it. */
static bool always_before(const decoder_t *decoder, uint32_t statement) {
   return statement < decoder->instruction.statement &&
          (statement >= decoder->block_start || statement < decoder->straight);
}

static bool known_number(const decoder_t *decoder, const ptx_operand_t *operand, uint64_t *number) {
   if (operand->kind != PTX_OPERAND_REGISTER || operand->negated ||
       decoder->definitions[operand->index] != 1 || decode_declared_bytes(decoder, operand) != 4)
      return false;
   const ptx_statement_t *statement = &decoder->function->statements[decoder->definition[operand->index]];
   const ptx_operand_t *operands = decoder->function->operands + statement->operand;
   if (strncmp(statement->opcode, "mov.", 4) != 0 || statement->guard != PTX_NONE ||
       statement->operand_count != 2 || operands[1].kind != PTX_OPERAND_INTEGER ||
       !always_before(decoder, decoder->definition[operand->index]))
      return false;
   *number = operands[1].value & FULL_MASK;
   return true;
}

bool decode_known_operand(decoder_t *decoder, const ptx_operand_t *operand, char letter,
                          machine_slot_t *slot) {
   uint64_t number;
   if (letter != 'w' || !known_number(decoder, operand, &number))
      return decode_operand(decoder, operand, letter, slot);
   *slot = decode_constant(decoder, number, 4);
   return true;
}

bool decode_destination(decoder_t *decoder, const ptx_operand_t *operand, char letter, machine_slot_t *slot) {
   if (operand->kind == PTX_OPERAND_SINK) {
      *slot = decode_nowhere(decoder, is_wide(letter) ? 8 : letter == 'p' ? 0 : 4);
      return true;
   }
   if (operand->kind != PTX_OPERAND_REGISTER || operand->negated)
      return decode_unsupported(decoder, "a destination that is not a register");
   return decode_operand(decoder, operand, letter, slot);
}

bool decode_any(decoder_t *decoder, const ptx_operand_t *operand, bool destination, machine_slot_t *slot) {
   char letter = decode_declared_bytes(decoder, operand) == 8 ? 'l' : 'w';
   if (!destination && operand->kind != PTX_OPERAND_REGISTER)
      letter = 'l';
   return destination ? decode_destination(decoder, operand, letter, slot)
                      : decode_operand(decoder, operand, letter, slot);
}

bool decode_address(decoder_t *decoder, const ptx_operand_t *operand) {
   machine_instruction_t *i = &decoder->instruction;
   if (operand->kind != PTX_OPERAND_ADDRESS || operand->count != 1)
      return decode_unsupported(decoder, "a memory operand that is not an address");
   const ptx_operand_t *base = &decoder->function->operands[operand->first];
   machine_slot_t slot = slot_of(decoder, 0);
   uint64_t address = 0;
   i->address_bytes = 8;
   i->immediate = (int64_t)operand->value;
   if (base->kind == PTX_OPERAND_REGISTER) {
      uint32_t bytes = decode_declared_bytes(decoder, base);
      if (bytes != 4 && bytes != 8)
         return decode_unsupported(decoder, "an address in a register of this size");
      slot = decode_function_register(decoder, base->index);
      i->address_bytes = (uint8_t)bytes;
   } else if (base->kind == PTX_OPERAND_SYMBOL) {
      if (!symbol_address(decoder, base, &address))
         return false;
      i->immediate += (int64_t)address;
   } else if (base->kind != PTX_OPERAND_INTEGER) {
      return decode_unsupported(decoder, "this form of address");
   }
   decode_place(i, 'a', slot);
   return true;
}

void decode_place(machine_instruction_t *i, char which, machine_slot_t slot) {
   switch (which) {
   case 'd':
      i->d = slot.offset;
      i->di = slot.number;
      break;
   case 'a':
      i->a = slot.offset;
      i->ai = slot.number;
      break;
   case 'b':
      i->b = slot.offset;
      i->bi = slot.number;
      break;
   default:
      i->c = slot.offset;
      i->ci = slot.number;
      if (slot.negated)
         i->flags |= FLAG_NEGATED_C;
   }
}

bool decode_extra(decoder_t *decoder, machine_slot_t slot) {
   machine_program_t *program = decoder->program;
   machine_slot_t *element = decode_append(decoder, (void **)&program->extras, &program->extra_count,
                                           &decoder->extra_room, sizeof *element);
   if (!element)
      return false;
   *element = slot;
   decoder->instruction.extra_count++;
   return true;
}
