/* Steps of conditions in a form that is quickly computed (fast_condition_steps.h).  It gives what condition_steps.c gives, for the operations below.  A list belongs to its
 * conditions and is not changed; on their thread. */
#include "machine/decode/fast_condition_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPERANDS 3u

enum order { EQUAL, DIFFERENT, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL };

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

static bool find_order(const char *how, uint8_t *order) {
   static const struct {
      const char *word;
      enum order order;
   } words[] = {{"eq", EQUAL},
                {"ne", DIFFERENT},
                {"lt", LESS},
                {"lo", LESS},
                {"le", LESS_OR_EQUAL},
                {"ls", LESS_OR_EQUAL},
                {"gt", GREATER},
                {"hi", GREATER},
                {"ge", GREATER_OR_EQUAL},
                {"hs", GREATER_OR_EQUAL}};
   for (uint32_t n = 0; n < sizeof words / sizeof *words; n++)
      if (strcmp(how, words[n].word) == 0) {
         *order = (uint8_t)words[n].order;
         return true;
      }
   return false;
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
       step->joined != COPY || (step->operation == COMPARE && !find_order(step->comparison, &plain->order)))
      return;
   plain->operation = (uint8_t)step->operation;
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

/* False: one has no single value.  *known: all have one that is known. */
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

static bool is_less(uint64_t a, uint64_t b, bool is_signed) {
   return is_signed ? (int64_t)a < (int64_t)b : a < b;
}

static bool is_so(uint8_t order, uint64_t a, uint64_t b, bool is_signed) {
   switch (order) {
   case EQUAL:
      return a == b;
   case DIFFERENT:
      return a != b;
   case LESS:
      return is_less(a, b, is_signed);
   case LESS_OR_EQUAL:
      return !is_less(b, a, is_signed);
   case GREATER:
      return is_less(b, a, is_signed);
   default:
      return !is_less(a, b, is_signed);
   }
}

static inline uint64_t compute(const struct plain_step *step, const uint64_t values[MOST_OPERANDS]) {
   const uint64_t a = values[0], b = values[1], c = values[2];
   const bool is_signed = step->from.is_signed;
   switch (step->operation) {
   case ADD:
      return a + b;
   case SUBTRACT:
      return a - b;
   case MULTIPLY:
      return a * b;
   case MULTIPLY_ADD:
      return a * b + c;
   case AND:
      return a & b;
   case OR:
      return a | b;
   case XOR:
      return a ^ b;
   case NOT:
      return ~a;
   case MINUS:
      return 0 - a;
   case LEFT:
      return b < step->bits ? a << b : 0;
   case RIGHT:
      return b < step->bits                ? (is_signed ? (uint64_t)((int64_t)a >> b) : a >> b)
             : is_signed && (int64_t)a < 0 ? ~UINT64_C(0)
                                           : 0;
   case LEAST:
      return is_less(a, b, is_signed) ? a : b;
   case MOST:
      return is_less(a, b, is_signed) ? b : a;
   case CHOOSE:
      return c & 1 ? a : b;
   case COMPARE:
      return is_so(step->order, a, b, is_signed);
   default:
      return a;
   }
}

bool machine_plain_step(rkb_machine_conditions_t *c, const struct plain_step *steps, uint32_t number,
                        struct plain_result *result) {
   const struct plain_step *step = &steps[number];
   uint64_t values[MOST_OPERANDS] = {0}, value = 0;
   bool known;
   if (!step->count || !take_operands(c, step, values, &known))
      return false;
   if (known)
      value = cut(compute(step, values), step->to);
   c->known[step->result] = known;
   c->values[step->result] = (struct range){(int64_t)value, (int64_t)value};
   const bool numbers = step->operation == COMPARE || step->operation == LEAST || step->operation == MOST;
   *result = (struct plain_result){known, step->operation == COMPARE ? value & 1 : values[0] == value,
                                   numbers ? (double)(int64_t)values[0] - (double)(int64_t)values[1] : NAN};
   return true;
}
