/* Finds volatile loads of shared memory whose value decides only where a thread goes on: such loads wait for a signal of another thread.  A volatile
 * access is as strong as a relaxed one of the whole system (PTX ISA 9.0, 8.2.1 and 9.7.9.8), so these loads are executed as relaxed loads.  A volatile
 * load whose value is computed with, or stored, moves data, and data need an order: warps that rely on executing in lockstep use such loads.
 *
 * A register holds data if anything but a branch, or a computation of registers that hold no data, reads it.  On the thread that decodes. */
#include "machine/decode/operands.h"

#include <stdlib.h>

static bool computes(const machine_instruction_t *i) {
   return i->kind <= MACHINE_CUSTOM && i->class <= RKB_CLASS_CONVERT;
}

static bool is_signal(const machine_instruction_t *i) {
   return i->class == RKB_CLASS_SHARED && (i->flags & FLAG_VOLATILE) && i->elements == 1 &&
          !ptx_type_is_float(i->type);
}

static bool hold(uint8_t *data, uint32_t number) {
   const bool more = number && !data[number];
   data[number] = 1;
   return more;
}

/* What the instruction computes of registers.  Its guard chooses between the old value and the new one. */
static bool follow_result(const machine_program_t *program, const machine_instruction_t *i, uint8_t *data) {
   const machine_operands_t list = machine_operands(program, i, machine_operands_kind(program, i));
   bool needed = list.destination_count == 0, more = false;
   for (uint32_t n = 0; n < list.destination_count; n++)
      needed |= data[list.destinations[n]] != 0;
   for (uint32_t n = 0; needed && n < list.source_count; n++)
      more |= hold(data, list.sources[n]);
   return (needed && hold(data, i->guard)) || more;
}

/* All registers that an instruction names which does more than compute, but the results of a load.  Extra operands of branches are no registers. */
static bool follow_others(const machine_program_t *program, const machine_instruction_t *i, uint8_t *data) {
   const bool custom = i->kind == MACHINE_CUSTOM,
              loads = custom && machine_operands_kind(program, i) == RECORD_LOAD;
   bool more = hold(data, i->guard);
   more |= hold(data, i->ai);
   more |= hold(data, i->bi);
   more |= hold(data, i->ci);
   for (uint32_t n = 0; (custom || i->kind == MACHINE_WAIT) && !loads && n < i->extra_count; n++)
      more |= hold(data, program->extras[i->extra + n].number);
   return more;
}

/* Whether the instruction makes more registers hold data. */
static bool follow(const machine_program_t *program, const machine_instruction_t *i, uint8_t *data) {
   switch (i->kind) {
   case MACHINE_BRANCH:
   case MACHINE_RETURN:
   case MACHINE_EXIT:
   case MACHINE_TRAP:
   case MACHINE_NOTHING:
      return false; /* a guard decides where the thread goes on */
   default:
      return computes(i) ? follow_result(program, i, data) : follow_others(program, i, data);
   }
}

bool machine_find_signal_loads(machine_program_t *program) {
   bool any = false, calls = false;
   for (uint32_t n = 0; n < program->count; n++) {
      any |= is_signal(&program->code[n]);
      calls |= program->code[n].kind == MACHINE_CALL; /* what arguments become is not followed */
   }
   any &= !calls;
   uint8_t *data = any ? calloc(program->register_count + 1, 1) : NULL;
   for (bool more = data != NULL; more;) {
      more = false;
      for (uint32_t n = program->count; n-- > 0;)
         more |= follow(program, &program->code[n], data);
   }
   for (uint32_t n = 0; data && n < program->count; n++) {
      machine_instruction_t *i = &program->code[n];
      const machine_operands_t list = is_signal(i)
                                         ? machine_operands(program, i, machine_operands_kind(program, i))
                                         : (machine_operands_t){.source_count = 0};
      if (list.destination_count != 1 || data[list.destinations[0]])
         continue;
      i->flags |= FLAG_RELAXED;
      program->signals = true;
   }
   free(data);
   return !any || data;
}
