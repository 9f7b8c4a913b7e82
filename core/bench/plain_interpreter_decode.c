/* Reads the PTX of a launch into the plain interpreter's own instructions, and lays out its registers, buffers and threads. */
#include "bench/plain_interpreter_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

static const char *const opcode_names[] = {
#define X(name, text) text,
   INSTRUCTIONS(X)
#undef X
};

static bool fail(char *message, size_t size, const char *what, const char *name) {
   snprintf(message, size, "%s: %s", what, name);
   return false;
}

static uint32_t new_slot(plain_interpreter_t *s, uint8_t kind, uint64_t bits) {
   s->kinds[s->slot_count] = kind;
   s->constants[s->slot_count] = bits;
   return s->slot_count++;
}

/* Finds the slot of an operand.  A register's slot is its number; every other operand gets a slot of its own. */
static bool take_operand(plain_interpreter_t *s, const ptx_operand_t *operand, instruction_t *i,
                         uint32_t *slot) {
   const ptx_module_t *module = s->harness->module;
   switch (operand->kind) {
   case PTX_OPERAND_REGISTER:
      *slot = operand->index;
      return true;
   case PTX_OPERAND_SPECIAL:
      *slot = new_slot(s, 2, operand->value);
      return true;
   case PTX_OPERAND_INTEGER:
   case PTX_OPERAND_FLOAT32:
      *slot = new_slot(s, 1, operand->value);
      return true;
   case PTX_OPERAND_SYMBOL:
      *slot = new_slot(s, 1, module->variables[operand->index].offset + operand->value);
      return true;
   case PTX_OPERAND_ADDRESS:
      i->offset = (int64_t)operand->value;
      return take_operand(s, &s->function->operands[operand->first], i, slot);
   case PTX_OPERAND_LABEL:
      i->target = s->function->labels[operand->index].statement;
      return true;
   default:
      return false;
   }
}

static bool decode(plain_interpreter_t *s, char *message, size_t size) {
   const ptx_function_t *f = s->function;
   s->code = rkb_allocate(f->statement_count + 1, sizeof *s->code);
   s->constants = rkb_allocate(f->register_count + f->operand_count + 1, sizeof *s->constants);
   s->kinds = rkb_allocate(f->register_count + f->operand_count + 1, 1);
   s->slot_count = f->register_count;
   for (uint32_t n = 0; n < f->statement_count; n++) {
      const ptx_statement_t *statement = &f->statements[n];
      instruction_t *i = &s->code[n];
      i->guard = statement->guard == PTX_NONE ? -1 : (int32_t)statement->guard;
      i->negated = statement->guard_negated;
      while (i->opcode < OPCODE_COUNT && strcmp(opcode_names[i->opcode], statement->opcode) != 0)
         i->opcode++;
      if (i->opcode == OPCODE_COUNT || statement->operand_count > MOST_OPERANDS)
         return fail(message, size, "not known to the scalar interpreter", statement->opcode);
      for (uint32_t k = 0; k < statement->operand_count; k++)
         if (!take_operand(s, &f->operands[statement->operand + k], i, &i->slot[k]))
            return fail(message, size, "an operand not known to the scalar interpreter", statement->opcode);
   }
   s->code[f->statement_count] = (instruction_t){.opcode = RET, .guard = -1};
   return true;
}

static void lay_out(plain_interpreter_t *s) {
   const harness_t *h = s->harness;
   const rkb_plan_launch_t *launch = &h->plan.launches[0];
   for (uint32_t n = 0; n < h->plan.buffer_count; n++) {
      const rkb_plan_buffer_t *plan = &h->plan.buffers[n];
      buffer_t *b = &s->buffers[n];
      *b = (buffer_t){.data = h->data[n].data,
                      .base = (uint64_t)(n + 1) << REGION_BITS,
                      .bytes = plan->bytes,
                      .read_only = plan->role == RKB_IN};
      if (b->read_only)
         continue;
      b->defined = rkb_allocate(plan->bytes, 1);
      b->writers = rkb_allocate(plan->bytes / 4 + 1, sizeof *b->writers);
      b->readers = rkb_allocate(plan->bytes / 4 + 1, sizeof *b->readers);
   }
   for (uint32_t n = 0; n < launch->argument_count; n++) {
      const rkb_plan_argument_t *a = &launch->arguments[n];
      s->parameters[n] = a->value + (a->buffer == UINT32_MAX ? 0 : s->buffers[a->buffer].base);
   }
   const ptx_module_t *module = h->module;
   for (uint32_t n = 0; n < module->variable_count; n++)
      if (module->variables[n].space == PTX_SHARED) {
         const uint64_t end = module->variables[n].offset + module->variables[n].bytes;
         s->shared_bytes = end > s->shared_bytes ? (uint32_t)end : s->shared_bytes;
      }
   s->thread_count = launch->block[0] * launch->block[1] * launch->block[2];
   s->threads = rkb_allocate(s->thread_count, sizeof *s->threads);
   s->shared = rkb_allocate(s->shared_bytes + 4, 1);
   s->shared_defined = rkb_allocate(s->shared_bytes + 4, 1);
   s->shared_records = rkb_allocate(s->shared_bytes / 4 + 1, sizeof *s->shared_records);
   for (uint32_t t = 0; t < s->thread_count; t++) {
      s->threads[t].number = t;
      s->threads[t].slots = rkb_allocate(s->slot_count + 1, sizeof(uint64_t));
      s->threads[t].defined = rkb_allocate(s->slot_count + 1, 1);
   }
}

plain_interpreter_t *plain_interpreter_open(const harness_t *harness, char *message, size_t size) {
   plain_interpreter_t *s = rkb_allocate(1, sizeof *s);
   s->harness = harness;
   for (uint32_t n = 0; n < harness->module->function_count; n++)
      if (harness->module->functions[n].entry &&
          strcmp(harness->module->functions[n].name, harness->plan.launches[0].entry) == 0)
         s->function = &harness->module->functions[n];
   const bool made = s->function && decode(s, message, size);
   if (made) {
      lay_out(s);
      return s;
   }
   plain_interpreter_close(s);
   return NULL;
}

void plain_interpreter_close(plain_interpreter_t *s) {
   if (!s)
      return;
   for (uint32_t t = 0; s->threads && t < s->thread_count; t++) {
      free(s->threads[t].slots);
      free(s->threads[t].defined);
   }
   for (uint32_t n = 0; n < HARNESS_MOST; n++) {
      free(s->buffers[n].defined);
      free(s->buffers[n].writers);
      free(s->buffers[n].readers);
   }
   free(s->threads);
   free(s->shared);
   free(s->shared_defined);
   free(s->shared_records);
   free(s->code);
   free(s->constants);
   free(s->kinds);
   free(s);
}
