/* Steps of conditions in a form that is quickly computed (fast_condition_steps.h).  For the operations below, they give the same results as
 * condition_steps.c; integer_results.h computes both.  tests/machine/test_fast_condition_steps.c compares the two.  A list belongs to its
 * conditions and is not changed; on their thread. */
#include "machine/decode/fast_condition_steps.h"
#include "machine/decode/integer_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPERANDS 3u

/* How a number is cut to a type: shifted up by so many bits and down again. */
struct form {
   uint8_t shift;
   bool is_signed;
};

struct plain_operand {
   uint64_t value; /* of a number of the text, cut to its type */
   uint32_t of;    /* register; PTX_NONE: it is a number */
   bool negated;
};

struct plain_step {
   uint8_t operation, order, count; /* count of operands; 0: the step is not plain */
   struct form from, to;
   uint8_t bits; /* of the result */
   uint32_t result;
   struct plain_operand operands[MOST_OPERANDS];
};

static struct form form_of(uint32_t type) {
   const uint32_t bits = type == PTX_PRED ? 1 : 8 * ptx_type_bytes(type);
   return (struct form){(uint8_t)(bits < 64 ? 64 - bits : 0), type != PTX_PRED && ptx_type_is_signed(type)};
}

static inline uint64_t cut(uint64_t value, struct form form) {
   value <<= form.shift;
   return form.is_signed ? (uint64_t)((int64_t)value >> form.shift) : value >> form.shift;
}

static uint32_t operands_of(enum operation operation) {
   switch (operation) {
   case COPY:
   case NOT:
   case MINUS:
      return 1;
   case ADD:
   case SUBTRACT:
   case MULTIPLY:
   case AND:
   case OR:
   case XOR:
   case LEFT:
   case RIGHT:
   case LEAST:
   case MOST:
   case COMPARE:
      return 2;
   case MULTIPLY_ADD:
   case CHOOSE:
      return 3;
   default:
      return 0;
   }
}

static void read_step(const rkb_machine_conditions_t *c, const struct step *step, struct plain_step *plain) {
   const ptx_operand_t *operands = &c->function->operands[step->statement->operand];
   const uint32_t count = operands_of(step->operation);
   if (!count || step->statement->operand_count != count + 1 || machine_condition_is_float(step) ||
       step->joined != COPY)
      return;
   plain->operation = (uint8_t)step->operation;
   plain->order = (uint8_t)step->order;
   plain->from = form_of(step->from);
   plain->to = form_of(step->type);
   plain->bits = (uint8_t)(8 * ptx_type_bytes(step->type));
   plain->result = operands[0].index;
   for (uint32_t k = 0; k < count; k++) {
      const ptx_operand_t *o = &operands[k + 1];
      const bool is_register = o->kind == PTX_OPERAND_REGISTER;
      if (!is_register && o->kind != PTX_OPERAND_INTEGER)
         return;
      plain->operands[k] =
         (struct plain_operand){step->operation == CHOOSE ? o->value : cut(o->value, plain->from),
                                is_register ? o->index : PTX_NONE, is_register && o->negated};
   }
   plain->count = (uint8_t)count;
}

struct plain_step *machine_plain_steps_new(const rkb_machine_conditions_t *c, const struct step *steps,
                                           uint32_t count) {
   struct plain_step *plain = calloc((size_t)count + 1, sizeof *plain);
   for (uint32_t n = 0; plain && n < count; n++)
      read_step(c, &steps[n], &plain[n]);
   return plain;
}

/* False: an operand has no single value.  *known: the values of all operands are known. */
static inline bool take_operands(const rkb_machine_conditions_t *c, const struct plain_step *step,
                                 uint64_t values[MOST_OPERANDS], bool *known) {
   *known = true;
   for (uint32_t k = 0; k < step->count; k++) {
      const struct plain_operand *o = &step->operands[k];
      if (o->of == PTX_NONE) {
         values[k] = o->value;
         continue;
      }
      const struct range *range = &c->values[o->of];
      *known &= c->known[o->of];
      if (c->known[o->of] && range->low != range->high)
         return false;
      values[k] = (uint64_t)range->low ^ o->negated;
      if (step->operation != CHOOSE)
         values[k] = cut(values[k], step->from);
   }
   return true;
}

bool machine_plain_step(rkb_machine_conditions_t *c, const struct plain_step *steps, uint32_t number,
                        struct plain_result *result) {
   const struct plain_step *step = &steps[number];
   uint64_t values[MOST_OPERANDS] = {0}, value = 0;
   bool known;
   if (!step->count || !take_operands(c, step, values, &known))
      return false;
   if (known)
      value = cut(machine_integer_result(step->operation, step->order, step->from.is_signed, step->bits,
                                         values[0], values[1], values[2]),
                  step->to);
   c->known[step->result] = known;
   c->values[step->result] = (struct range){(int64_t)value, (int64_t)value};
   const bool numbers = step->operation == COMPARE || step->operation == LEAST || step->operation == MOST;
   *result = (struct plain_result){
      known, step->operation == COMPARE ? value & 1 : values[0] == value,
      numbers ? machine_integer_distance(values[0], values[1], step->from.shift, step->from.is_signed) : NAN};
   return true;
}
