/* Instructions of a warpgroup: wgmma.mma_async and what orders it, setmaxnreg (PTX ISA 9.0, 9.7.15.5 and 9.7.19.5).  Sparse products are
 * refused by name.  Part of the decoder.
 *
 *    wgmma.mma_async.sync.aligned.SHAPE.D.A.B d, a, b, scale-d, scale-a, scale-b[, transposed-a][, transposed-b]
 *    wgmma.mma_async.sync.aligned.SHAPE[.satfinite].s32.A.B d, a, b, scale-d */
#include "machine/decode/decode.h"
#include "machine/decode/operands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
   const char *name;
   uint8_t type, bits;
   uint16_t k;
} types[] = {{"f16", TENSOR_F16, 16, 16},  {"bf16", TENSOR_BF16, 16, 16}, {"tf32", TENSOR_TF32, 32, 8},
             {"e4m3", TENSOR_E4M3, 8, 32}, {"e5m2", TENSOR_E5M2, 8, 32},  {"s8", TENSOR_S8, 8, 32},
             {"u8", TENSOR_U8, 8, 32},     {"b1", TENSOR_B1, 1, 256},     {"f32", TENSOR_F32, 32, 0},
             {"s32", TENSOR_S32, 32, 0}};

static int type_named(const char *name) {
   for (size_t n = 0; n < sizeof types / sizeof *types; n++)
      if (strcmp(types[n].name, name) == 0)
         return (int)n;
   return -1;
}

static bool is_eight(uint32_t type) {
   return type == TENSOR_E4M3 || type == TENSOR_E5M2;
}

static bool is_byte(uint32_t type) {
   return type == TENSOR_S8 || type == TENSOR_U8;
}

static bool is_integer(const machine_warpgroup_form_t *form) {
   return form->type_d == TENSOR_S32;
}

static bool types_fit(const machine_warpgroup_form_t *form) {
   const uint32_t a = form->type_a, b = form->type_b, d = form->type_d;
   if (is_eight(a) && is_eight(b))
      return d == TENSOR_F32 || d == TENSOR_F16;
   if (is_byte(a) && is_byte(b))
      return d == TENSOR_S32;
   if (a != b)
      return false;
   return a == TENSOR_F16    ? d == TENSOR_F32 || d == TENSOR_F16
          : a == TENSOR_B1   ? d == TENSOR_S32
          : a == TENSOR_BF16 ? d == TENSOR_F32
                             : a == TENSOR_TF32 && d == TENSOR_F32;
}

/* Integers have fewer widths. */
static bool shape_fits(const machine_warpgroup_form_t *form, uint32_t m, uint32_t k) {
   const bool width = form->n >= 8 && form->n <= WARPGROUP_MOST_COLUMNS && form->n % 8 == 0;
   return m == WARPGROUP_ROWS && k == form->k && width &&
          (!is_integer(form) || form->n <= 32 || form->n % 16 == 0);
}

/* Returns the index of an equal form, and adds the form where there is none; PTX_NONE when memory ran out. */
static uint32_t keep(decoder_t *decoder, const machine_warpgroup_form_t *form) {
   machine_program_t *program = decoder->program;
   for (uint32_t n = 0; n < program->warpgroup_form_count; n++)
      if (memcmp(&program->warpgroup_forms[n], form, sizeof *form) == 0)
         return n;
   machine_warpgroup_form_t *larger =
      realloc(program->warpgroup_forms, (program->warpgroup_form_count + 1) * sizeof *larger);
   if (!larger) {
      decode_out_of_memory(decoder);
      return PTX_NONE;
   }
   program->warpgroup_forms = larger;
   memcpy(&larger[program->warpgroup_form_count], form,
          sizeof *form); /* with its padding, since forms are compared by their bytes */
   return program->warpgroup_form_count++;
}

static bool registers(decoder_t *decoder, const ptx_operand_t *operand, uint32_t count, bool destination) {
   const ptx_operand_t *parts =
      operand->kind == PTX_OPERAND_LIST ? decoder->function->operands + operand->first : operand;
   if ((operand->kind == PTX_OPERAND_LIST ? operand->count : 1) != count)
      return decode_unsupported(decoder, decoder->statement->opcode);
   for (uint32_t n = 0; n < count; n++) {
      machine_slot_t slot;
      if (parts[n].kind != PTX_OPERAND_REGISTER || decode_declared_bytes(decoder, &parts[n]) != 4)
         return decode_unsupported(decoder, decoder->statement->opcode);
      if (destination ? !decode_destination(decoder, &parts[n], 'w', &slot)
                      : !decode_operand(decoder, &parts[n], 'w', &slot))
         return false;
      if (!decode_extra(decoder, slot))
         return false;
   }
   return true;
}

/* Whether the numbers of so many registers, those that were added last, follow each other.  Compilers name them upwards or downwards. */
static bool are_together(const decoder_t *decoder, uint32_t count, uint16_t *least) {
   const machine_program_t *program = decoder->program;
   const machine_slot_t *slots = program->extras + program->extra_count - count;
   bool up = true, down = true;
   for (uint32_t n = 1; n < count; n++) {
      up &= slots[n].number == slots[0].number + n;
      down &= slots[n].number + n == slots[0].number;
   }
   *least = slots[up ? 0 : count - 1].number;
   return up || down;
}

/* 1 or -1 */
static bool scale(const ptx_operand_t *operand, bool *negated) {
   *negated = operand->kind == PTX_OPERAND_INTEGER && (int32_t)operand->value == -1;
   return operand->kind == PTX_OPERAND_INTEGER && (*negated || operand->value == 1);
}

static bool choice(const ptx_operand_t *operand, bool *one) {
   *one = operand->kind == PTX_OPERAND_INTEGER && operand->value == 1;
   return operand->kind == PTX_OPERAND_INTEGER && operand->value <= 1;
}

/* Reads the immediates after scale-d, from the fourth operand on. */
static bool immediates(decoder_t *decoder, machine_warpgroup_form_t *form) {
   const ptx_operand_t *at = decoder->operands + 4;
   const bool halves = form->element_bits == 16;
   const uint32_t wanted = is_integer(form) ? 4 : halves ? (form->a_in_registers ? 7 : 8) : 6;
   if (decode_operand_count(decoder) != wanted)
      return false;
   if (is_integer(form))
      return true;
   if (!scale(at, &form->a_negated) || !scale(at + 1, &form->b_negated))
      return false;
   at += 2;
   if (halves && !form->a_in_registers && !choice(at++, &form->a_across))
      return false;
   return !halves || choice(at, &form->b_across);
}

static bool read_opcode(decoder_t *decoder, machine_warpgroup_form_t *form) {
   uint32_t named = 0;
   unsigned m = 0, n = 0, k = 0;
   uint8_t type[3] = {0};
   uint32_t at[3] = {0};
   for (uint32_t w = 2; w < decoder->modifier_count; w++) {
      const char *word = decoder->modifiers[w];
      const int found = type_named(word);
      int used = 0;
      if (found >= 0 && named < 3) {
         at[named] = (uint32_t)found;
         type[named++] = types[found].type;
      } else if (strcmp(word, "satfinite") == 0) {
         form->saturates = true;
      } else if (strcmp(word, "sync") != 0 && strcmp(word, "aligned") != 0 && strcmp(word, "and") != 0 &&
                 strcmp(word, "popc") != 0 &&
                 (sscanf(word, "m%3un%3uk%3u%n", &m, &n, &k, &used) != 3 || word[used])) {
         return false;
      }
   }
   if (named != 3)
      return false;
   form->type_d = type[0];
   form->type_a = type[1];
   form->type_b = type[2];
   form->element_bits = types[at[1]].bits;
   form->k = types[at[1]].k;
   form->n = (uint16_t)n;
   return types_fit(form) && shape_fits(form, m, k) && (!form->saturates || is_byte(form->type_a)) &&
          decode_modifier(decoder, "and") == (form->type_a == TENSOR_B1);
}

static enum decode_result multiply(decoder_t *decoder) {
   machine_instruction_t *i = &decoder->instruction;
   machine_warpgroup_form_t form;
   machine_slot_t slot;
   memset(&form, 0, sizeof form);
   if (!read_opcode(decoder, &form) || decode_operand_count(decoder) < 4)
      return decode_refuse(decoder);
   const bool halves = form.type_d == TENSOR_F16, eight = is_eight(form.type_a);
   form.a_in_registers = decoder->operands[1].kind == PTX_OPERAND_LIST;
   form.results = (uint8_t)(form.n / (halves ? 4 : 2));
   form.fraction = eight ? 13 : 25; /* docs/decisions/tensor-arithmetic.md */
   form.kept_fraction = eight ? 13 : 23;
   if (!immediates(decoder, &form))
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_use(decoder, "wgmma.mma_async") &&
               registers(decoder, &decoder->operands[0], form.results, true));
   form.together = are_together(decoder, form.results, &form.least);
   if (form.a_in_registers) {
      FAIL_UNLESS(registers(decoder, &decoder->operands[1], WARPGROUP_A_REGISTERS, false));
   } else {
      FAIL_UNLESS(decode_operand(decoder, &decoder->operands[1], 'l', &slot));
      decode_place(i, 'a', slot);
   }
   FAIL_UNLESS(decode_operand(decoder, &decoder->operands[2], 'l', &slot));
   decode_place(i, 'b', slot);
   FAIL_UNLESS(decode_operand(decoder, &decoder->operands[3], 'q', &slot));
   if (slot.negated)
      i->flags |= FLAG_NEGATED_C;
   slot.negated = false;
   decode_place(i, 'c', slot);
   i->elements = form.results;
   i->immediate = keep(decoder, &form);
   decoder->program->warpgroups = decoder->program->asynchronous = true;
   return i->immediate == PTX_NONE ? DECODE_FAILED : DECODE_DONE;
}

/* wgmma.fence, wgmma.commit_group, wgmma.wait_group N */
static enum decode_result order(decoder_t *decoder, const char *key, uint32_t operands) {
   machine_instruction_t *i = &decoder->instruction;
   if (decode_operand_count(decoder) != operands || !decode_modifier(decoder, "aligned") ||
       decoder->modifier_count != 4 ||
       (operands && (decoder->operands[0].kind != PTX_OPERAND_INTEGER || decoder->operands[0].value > 7)))
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_use(decoder, key));
   i->immediate = operands ? (int64_t)decoder->operands[0].value : 0;
   decoder->program->warpgroups = true;
   return DECODE_DONE;
}

enum decode_result decode_warpgroup(decoder_t *decoder) {
   const char *what = decoder->modifier_count > 1 ? decoder->modifiers[1] : "";
   if (strcmp(what, "mma_async") == 0 && decode_modifier(decoder, "aligned") &&
       !decode_modifier(decoder, "sp"))
      return multiply(decoder);
   return strcmp(what, "fence") == 0          ? order(decoder, "wgmma.fence", 0)
          : strcmp(what, "commit_group") == 0 ? order(decoder, "wgmma.commit_group", 0)
          : strcmp(what, "wait_group") == 0   ? order(decoder, "wgmma.wait_group", 1)
                                              : decode_refuse(decoder);
}

/* setmaxnreg.{inc,dec}.sync.aligned.u32 N */
enum decode_result decode_register_count(decoder_t *decoder) {
   machine_instruction_t *i = &decoder->instruction;
   const bool more = decode_modifier(decoder, "inc");
   if (decode_operand_count(decoder) != 1 || decoder->operands[0].kind != PTX_OPERAND_INTEGER ||
       decoder->modifier_count != 5 || more == (bool)decode_modifier(decoder, "dec"))
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_use(decoder, "setmaxnreg"));
   i->operation = more;
   i->immediate = (int64_t)(decoder->operands[0].value & UINT32_MAX);
   if (more && i->immediate > decoder->program->most_asked)
      decoder->program->most_asked = (uint32_t)i->immediate;
   decoder->program->warpgroups = true;
   decoder->program->asynchronous = true; /* so that warps are followed by what they know of each other */
   return DECODE_DONE;
}

/* Registers of products in flight --------------------------------------------------------------------------------- */

static bool is_product(const machine_program_t *program, const machine_instruction_t *i) {
   return i->kind == MACHINE_CUSTOM && strncmp(machine_opcode_of(program, i), "wgmma.mma", 9) == 0;
}

static bool is_move(const machine_program_t *program, const machine_instruction_t *i) {
   return i->kind == MACHINE_VALUE && strncmp(machine_opcode_of(program, i), "mov.", 4) == 0;
}

static bool is_copy(const machine_program_t *program, const machine_instruction_t *i) {
   return is_move(program, i) && !program->registers[i->ai].constant && i->di > 1;
}

/* Adds how a register is touched: read, written, or passed on unchanged. */
static bool add_touch(decoder_t *decoder, uint32_t *room, const uint8_t *of_products, uint32_t number,
                      uint32_t how) {
   machine_program_t *program = decoder->program;
   if (!of_products[number])
      return true;
   machine_touch_t *touch =
      decode_append(decoder, (void **)&program->touches, &program->touch_count, room, sizeof *touch);
   if (!touch)
      return false;
   *touch = (machine_touch_t){.number = (uint16_t)number, .how = (uint16_t)how};
   return true;
}

static bool find_touches(decoder_t *decoder, const uint8_t *of_products, uint32_t at, uint32_t *room) {
   machine_program_t *program = decoder->program;
   machine_instruction_t *i = &program->code[at];
   const uint8_t kind = machine_operands_kind(program, i);
   const uint32_t first = program->touch_count;
   machine_operands_t list = {.source_count = 0};
   if (i->kind > MACHINE_CUSTOM && i->kind != MACHINE_BARRIER)
      return true;
   if (i->kind <= MACHINE_CUSTOM && kind != RECORD_NOTHING)
      list = machine_operands(program, i, kind);
   const bool moved = is_move(program, i), constant = moved && !is_copy(program, i);
   bool good = true;
   for (uint32_t n = 0; n < list.source_count; n++)
      good &= moved || add_touch(decoder, room, of_products, list.sources[n], TOUCH_READ);
   for (uint32_t n = 0; n < list.destination_count; n++)
      good &= (moved && !constant) || add_touch(decoder, room, of_products, list.destinations[n],
                                                constant ? TOUCH_CLEARED : TOUCH_WRITTEN);
   /* A copied register stays an accumulator: compilers rename a loop's accumulators this way. */
   if (good && moved && !constant && (of_products[i->ai] || of_products[i->di])) {
      machine_touch_t *touch =
         decode_append(decoder, (void **)&program->touches, &program->touch_count, room, sizeof *touch);
      good = touch != NULL;
      if (touch)
         *touch = (machine_touch_t){.number = i->di, .how = TOUCH_COPIED, .from = i->ai};
   }
   if (good && program->touch_count > first) {
      program->touch_first[at] = first;
      program->touch_first[program->count + at] = program->touch_count;
      i->flags |= FLAG_TOUCHES;
   }
   return good;
}

bool decode_touches(decoder_t *decoder) {
   machine_program_t *program = decoder->program;
   if (!program->warpgroups)
      return true;
   uint32_t room = 0;
   uint8_t *of_products = calloc(program->register_count, 1);
   program->touch_first = calloc(2 * (size_t)program->count + 1, sizeof *program->touch_first);
   bool good = of_products && program->touch_first;
   for (uint32_t at = 0; good && at < program->count; at++)
      for (uint32_t e = 0; is_product(program, &program->code[at]) && e < program->code[at].extra_count; e++)
         of_products[program->extras[program->code[at].extra + e].number] = 1;
   /* Follows copies too, in both directions. */
   for (bool more = good; more;) {
      more = false;
      for (uint32_t at = 0; at < program->count; at++) {
         const machine_instruction_t *i = &program->code[at];
         if (!is_copy(program, i) || of_products[i->ai] == of_products[i->di])
            continue;
         of_products[i->ai] = of_products[i->di] = 1;
         more = true;
      }
   }
   for (uint32_t n = 0; good && n < program->register_count; n++) {
      if (!of_products[n])
         continue;
      program->products_first = program->products_end ? program->products_first : n;
      program->products_end = n + 1;
   }
   if (good)
      of_products[0] = of_products[1] = 0;
   for (uint32_t at = 0; good && at < program->count; at++)
      if (!is_product(program, &program->code[at]))
         good = find_touches(decoder, of_products, at, &room);
   free(of_products);
   return good || decode_out_of_memory(decoder);
}
