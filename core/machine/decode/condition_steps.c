/* The statements by which a kernel decides (conditions.h).  This file says which statements are understood and how each computes its number.  No
 * state. */
#include "machine/decode/integer_results.h"
#include "machine/decode/written_variables.h"

#include <math.h>
#include <string.h>

/* Reading -------------------------------------------------------------------------------------------------------------- */

/* Whether the opcode's n-th word is this one. */
bool machine_condition_word(const char *opcode, uint32_t n, const char *word) {
   if (n == 0 && *opcode != *word) /* most are told apart so */
      return false;
   for (; n && opcode; n--)
      opcode = strchr(opcode, '.') ? strchr(opcode, '.') + 1 : NULL;
   const size_t length = strlen(word);
   return opcode && strncmp(opcode, word, length) == 0 && (opcode[length] == '.' || opcode[length] == '\0');
}

uint32_t machine_condition_type(const char *opcode, uint32_t from_end) {
   const char *end = opcode + strlen(opcode), *dot = end;
   for (uint32_t n = 0; n <= from_end && dot; n++) {
      end = dot;
      for (dot = end - 1; dot > opcode && *dot != '.'; dot--)
         ;
      if (dot <= opcode)
         dot = NULL;
   }
   return dot ? ptx_type_named(dot + 1, (size_t)(end - dot - 1)) : PTX_NO_TYPE;
}

static bool read_space(const char *opcode, struct step *step) {
   if (!machine_condition_word(opcode, 1, "param"))
      step->operation = CONSTANT;
   return step->operation == PARAMETER || machine_condition_word(opcode, 1, "const") ||
          machine_condition_word(opcode, 1, "global");
}

/* How integers are compared. */
static enum comparison_order order_of(const char *how) {
   static const struct {
      const char *word;
      enum comparison_order order;
   } words[] = {{"eq", EQUAL},         {"ne", DIFFERENT},     {"lt", LESS},    {"lo", LESS},
                {"le", LESS_OR_EQUAL}, {"ls", LESS_OR_EQUAL}, {"gt", GREATER}, {"hi", GREATER}};
   for (uint32_t n = 0; n < sizeof words / sizeof *words; n++)
      if (strcmp(how, words[n].word) == 0)
         return words[n].order;
   return GREATER_OR_EQUAL;
}

/* The words between `setp` and the type: how it compares, and the operation by which the result is joined with a predicate. */
static bool read_comparison(const char *opcode, struct step *step) {
   const char *comparison = strchr(opcode, '.') + 1, *end = strchr(comparison, '.');
   if (!end || end - comparison < 2 || end - comparison > 3)
      return false;
   memcpy(step->comparison, comparison, (size_t)(end - comparison));
   step->order = order_of(step->comparison);
   step->joined = machine_condition_word(opcode, 2, "and")   ? AND
                  : machine_condition_word(opcode, 2, "or")  ? OR
                  : machine_condition_word(opcode, 2, "xor") ? XOR
                                                             : COPY;
   return true;
}

/* An operation of which the result or an operand is a floating-point number. */
static bool read_floats(const char *opcode, struct step *step) {
   static const struct {
      const char *word;
      enum rounding rounding;
   } roundings[] = {{"rni", WHOLE}, {"rmi", DOWN}, {"rpi", UP}, {"rzi", TO_ZERO}};
   const enum operation o = step->operation;
   for (uint32_t n = 1; n < 4; n++) {
      for (uint32_t k = 0; k < sizeof roundings / sizeof *roundings; k++)
         if (machine_condition_word(opcode, n, roundings[k].word))
            step->rounding = roundings[k].rounding;
      step->saturates |= machine_condition_word(opcode, n, "sat");
   }
   if (machine_condition_word(opcode, 0, "cvt"))
      step->operation = CONVERT;
   step->condition = o == COMPARE;
   if ((o == PARAMETER && !read_space(opcode, step)) || (o == COMPARE && !read_comparison(opcode, step)))
      return false;
   return step->type != PTX_NO_TYPE && step->from != PTX_NO_TYPE && ptx_type_bytes(step->type) <= 8 &&
          step->type != PTX_F16X2 && step->type != PTX_BF16X2 &&
          (o <= SUBTRACT || o == MULTIPLY || o == MULTIPLY_ADD || (o >= QUOTIENT && o <= SIZE) ||
           o == COMPARE || o == CHOOSE || o == PARAMETER || o >= ROOT);
}

bool machine_condition_read(const char *opcode, struct step *step) {
   static const struct {
      const char *word;
      enum operation operation;
   } names[] = {{"mov", COPY},
                {"cvt", COPY},
                {"add", ADD},
                {"sub", SUBTRACT},
                {"mul", MULTIPLY},
                {"mad", MULTIPLY_ADD},
                {"and", AND},
                {"or", OR},
                {"xor", XOR},
                {"not", NOT},
                {"shl", LEFT},
                {"shr", RIGHT},
                {"rem", REMAINDER},
                {"div", QUOTIENT},
                {"min", LEAST},
                {"max", MOST},
                {"neg", MINUS},
                {"abs", SIZE},
                {"popc", ONES},
                {"setp", COMPARE},
                {"selp", CHOOSE},
                {"ld", PARAMETER},
                {"clz", LEADING_ZEROS},
                {"brev", REVERSED},
                {"bfe", FIELD},
                {"prmt", BYTES},
                {"lop3", BY_TABLE},
                {"shf", FUNNEL_LEFT},
                {"shfl", SHUFFLE},
                {"fma", MULTIPLY_ADD},
                {"sqrt", ROOT},
                {"rcp", INVERSE},
                {"rsqrt", INVERSE_ROOT},
                {"ex2", POWER_OF_TWO},
                {"lg2", LOGARITHM},
                {"sin", SINE},
                {"cos", COSINE},
                {"tanh", TANGENT}};
   uint32_t n = 0;
   while (n < sizeof names / sizeof *names && !machine_condition_word(opcode, 0, names[n].word))
      n++;
   if (n == sizeof names / sizeof *names)
      return false;
   step->operation = names[n].operation;
   step->type = step->from = machine_condition_type(opcode, 0);
   if (machine_condition_word(opcode, 0, "cvt"))
      step->type = machine_condition_type(opcode, 1);
   if (machine_condition_is_float(step))
      return read_floats(opcode, step);
   if (strstr(opcode, ".sat")) /* of integers */
      return false;
   const bool wide = machine_condition_word(opcode, 1, "wide"),
              multiplies = step->operation == MULTIPLY || step->operation == MULTIPLY_ADD;
   if (multiplies && machine_condition_word(opcode, 1, "hi"))
      step->operation = step->operation == MULTIPLY ? MULTIPLY_HIGH : ADD_HIGH;
   else if (multiplies && !wide && !machine_condition_word(opcode, 1, "lo"))
      return false;
   if (step->operation == FUNNEL_LEFT && machine_condition_word(opcode, 1, "r"))
      step->operation = FUNNEL_RIGHT;
   if (step->operation >= FUNNEL_LEFT && step->operation <= FUNNEL_RIGHT &&
       machine_condition_word(opcode, 2, "clamp"))
      return false;
   if (step->operation == BYTES && !machine_condition_word(opcode, 1, "b32")) /* with a mode */
      return false;
   if (wide && step->from != PTX_U32 && step->from != PTX_S32)
      return false;
   if (wide)
      step->type = step->from == PTX_S32 ? PTX_S64 : PTX_U64;
   if (step->operation >= CONVERT || (step->operation == PARAMETER && !read_space(opcode, step)) ||
       (step->operation == COMPARE && !read_comparison(opcode, step)))
      return false;
   step->condition = step->operation == COMPARE ||
                     (step->type == PTX_PRED && (step->operation == AND || step->operation == OR));
   return step->type != PTX_NO_TYPE && step->from != PTX_NO_TYPE && ptx_type_bytes(step->type) <= 8;
}

bool machine_condition_operands(const rkb_machine_conditions_t *c, const ptx_statement_t *statement,
                                bool lone) {
   const ptx_operand_t *operands = &c->function->operands[statement->operand];
   const uint32_t count = statement->operand_count;
   const char *opcode = statement->opcode;
   if (count < 2 || (count > 5 && !lone) || operands[0].kind != PTX_OPERAND_REGISTER)
      return false;
   if (machine_condition_word(opcode, 0, "ld"))
      return (machine_condition_word(opcode, 1, "param") || machine_condition_word(opcode, 1, "const") ||
              machine_condition_word(opcode, 1, "global")) &&
             operands[1].kind == PTX_OPERAND_ADDRESS &&
             c->function->operands[operands[1].first].kind == PTX_OPERAND_SYMBOL;
   if (machine_condition_word(opcode, 0, "shfl"))
      return count > 3 && operands[operands[1].paired ? 2 : 1].kind == PTX_OPERAND_REGISTER &&
             !operands[1].paired;
   bool may = true;
   for (uint32_t k = 1; k < count && may; k++)
      may = !operands[k].paired &&
            (operands[k].kind == PTX_OPERAND_REGISTER || operands[k].kind == PTX_OPERAND_INTEGER ||
             operands[k].kind == PTX_OPERAND_FLOAT32 || operands[k].kind == PTX_OPERAND_FLOAT64 ||
             (operands[k].kind == PTX_OPERAND_SPECIAL && machine_is_size(operands[k].value)));
   return may;
}

/* Computing ------------------------------------------------------------------------------------------------------------ */

static bool join(const struct step *step, uint64_t other, uint64_t *result) {
   if (step->joined != COPY)
      *result = step->joined == AND  ? *result & other
                : step->joined == OR ? *result | other
                                     : *result ^ other;
   return true;
}

bool machine_condition_apply(const struct step *step, const uint64_t operands[4], uint64_t *result) {
   const uint64_t a = operands[0], b = operands[1], c = operands[2];
   const bool is_signed = ptx_type_is_signed(step->from);
   if (machine_condition_is_float(step) && step->operation != COPY && step->operation != CHOOSE) {
      if (!machine_condition_apply_floats(step, operands, result))
         return false;
      return step->operation != COMPARE || join(step, c, result);
   }
   if (step->operation > PARAMETER)
      return machine_condition_apply_bits(step, operands, result);
   switch (step->operation) {
   case REMAINDER:
   case QUOTIENT:
      if (b == 0 || (is_signed && b == ~UINT64_C(0)))
         return false;
      *result = step->operation == REMAINDER ? (is_signed ? (uint64_t)((int64_t)a % (int64_t)b) : a % b)
                                             : (is_signed ? (uint64_t)((int64_t)a / (int64_t)b) : a / b);
      return true;
   case SIZE:
      *result = (int64_t)a < 0 ? 0 - a : a;
      return true;
   case ONES:
      *result = (uint64_t)__builtin_popcountll(step->from == PTX_B32 ? a & UINT32_MAX : a);
      return true;
   default:
      *result = machine_integer_result(step->operation, step->order, is_signed,
                                       8 * ptx_type_bytes(step->type), a, b, c);
      return step->operation != COMPARE || join(step, c, result);
   }
}

static bool parameter_of(const rkb_machine_conditions_t *c, const struct step *step,
                         const rkb_plan_launch_t *launch, uint64_t *value) {
   const ptx_operand_t *address = &c->function->operands[step->statement->operand + 1],
                       *symbol = &c->function->operands[address->first];
   const uint64_t offset = c->module->variables[symbol->index].offset + symbol->value + address->value;
   for (uint32_t n = 0; n < launch->argument_count; n++) {
      const rkb_plan_argument_t *argument = &launch->arguments[n];
      if (argument->offset == offset && argument->buffer == UINT32_MAX && !argument->map &&
          argument->bytes >= ptx_type_bytes(step->type)) {
         *value = argument->value;
         return true;
      }
   }
   return false;
}

/* A value of a variable that no kernel writes. */
static bool constant_of(const rkb_machine_conditions_t *c, const struct step *step, uint64_t *value) {
   const ptx_operand_t *address = &c->function->operands[step->statement->operand + 1],
                       *symbol = &c->function->operands[address->first];
   const ptx_variable_t *variable = &c->module->variables[symbol->index];
   const uint64_t offset = symbol->value + address->value;
   const uint32_t bytes = ptx_type_bytes(step->type);
   *value = 0;
   if ((variable->space != PTX_CONST && variable->space != PTX_GLOBAL) || variable->relocation_count ||
       offset > variable->bytes || variable->bytes - offset < bytes ||
       (variable->space == PTX_GLOBAL && machine_may_write(c->module, symbol->index)))
      return false;
   if (variable->initial)
      memcpy(value, variable->initial + offset, bytes);
   return true;
}

static struct range single(uint64_t value) {
   return (struct range){(int64_t)value, (int64_t)value};
}

/* The values that a special register has in the threads of the block. */
static struct range special_of(const rkb_machine_conditions_t *c, uint64_t special,
                               const rkb_plan_launch_t *launch) {
   if (machine_is_thread(special) && c->followed == OF_ONE_THREAD)
      return single(c->thread[special - PTX_SPECIAL_TID_X]);
   if (machine_is_thread(special))
      return (struct range){0, (int64_t)launch->block[special - PTX_SPECIAL_TID_X] - 1};
   if (special == PTX_SPECIAL_DYNAMIC_SHARED)
      return single(launch->dynamic_shared);
   return single(machine_is_place(special)         ? c->block[special - PTX_SPECIAL_CTAID_X]
                 : special >= PTX_SPECIAL_NCTAID_X ? launch->grid[special - PTX_SPECIAL_NCTAID_X]
                                                   : launch->block[special - PTX_SPECIAL_NTID_X]);
}

static bool range_of(const rkb_machine_conditions_t *c, const struct step *step, const ptx_operand_t *operand,
                     const rkb_plan_launch_t *launch, struct range *value) {
   if (operand->kind == PTX_OPERAND_REGISTER && !c->known[operand->index])
      return false;
   *value = operand->kind == PTX_OPERAND_REGISTER  ? c->values[operand->index]
            : operand->kind != PTX_OPERAND_SPECIAL ? single(operand->value)
                                                   : special_of(c, operand->value, launch);
   if (operand->kind == PTX_OPERAND_REGISTER && operand->negated)
      *value = (struct range){value->high ^ 1, value->low ^ 1};
   return step->operation == CHOOSE || machine_condition_range_as(value, step->from);
}

static bool take_lone(const rkb_machine_conditions_t *c, const struct step *step,
                      const rkb_plan_launch_t *launch, uint64_t *value) {
   const ptx_operand_t *operands = &c->function->operands[step->statement->operand];
   uint64_t sources[MOST_SPLIT_SOURCES + 1] = {0}, threads = 1;
   for (uint32_t k = 1; k < step->statement->operand_count; k++) {
      const ptx_operand_t *o = &operands[k];
      const struct range range = o->kind == PTX_OPERAND_REGISTER  ? c->values[o->index]
                                 : o->kind == PTX_OPERAND_SPECIAL ? special_of(c, o->value, launch)
                                                                  : single(o->value);
      if ((o->kind == PTX_OPERAND_REGISTER && !c->known[o->index]) || range.low != range.high)
         return false;
      sources[k - 1] = (uint64_t)range.low;
   }
   for (uint32_t d = 0; d < 3; d++)
      threads *= launch->block[d];
   return step->lone && step->lone->apply(step->lone, step->lone_number, sources,
                                          threads < 32 ? (uint32_t)threads : 32, step->result, value);
}

/* Takes a load or a store: an address, what is added to it, and the value. */
static bool take_access(const rkb_machine_conditions_t *c, const struct step *step,
                        const rkb_plan_launch_t *launch, uint64_t *value) {
   const ptx_operand_t *operands = &c->function->operands[step->statement->operand];
   const uint32_t bytes = ptx_type_bytes(step->type);
   struct range base, stored = {0};
   *value = 0;
   if (operands[1].kind == PTX_OPERAND_REGISTER && !c->known[operands[1].index])
      return false;
   base = operands[1].kind == PTX_OPERAND_REGISTER ? c->values[operands[1].index] : single(operands[1].value);
   const uint64_t address = (uint64_t)base.low + operands[2].value;
   if (step->operation == LOAD)
      return machine_cells_load(c->cells, address, bytes, value);
   const bool known = range_of(c, step, &operands[3], launch, &stored) && stored.low == stored.high;
   machine_cells_store(c->cells, address, bytes, (uint64_t)stored.low, known);
   return false;
}

static bool take_step(const rkb_machine_conditions_t *c, const struct step *step,
                      const rkb_plan_launch_t *launch, struct range *result) {
   const ptx_operand_t *operands = &c->function->operands[step->statement->operand];
   struct range ranges[4] = {{0}};
   uint64_t values[4], value = 0;
   bool apart = false;
   if (step->operation == CONSTANT) {
      const bool known = constant_of(c, step, &value);
      *result = single(value);
      return known;
   }
   if (step->operation == SHUFFLE) { /* of a value that all threads have */
      const ptx_operand_t *shared = &operands[operands[1].paired ? 2 : 1];
      *result = c->values[shared->index];
      return c->known[shared->index] && result->low == result->high;
   }
   if (step->operation >= LONE) {
      const bool known =
         step->operation == LONE ? take_lone(c, step, launch, &value) : take_access(c, step, launch, &value);
      *result = single(value);
      return known;
   }
   if (step->operation == PARAMETER) {
      const bool known = parameter_of(c, step, launch, &value);
      *result = single(value);
      return known;
   }
   for (uint32_t k = 1; k < step->statement->operand_count; k++) {
      if (!range_of(c, step, &operands[k], launch, &ranges[k - 1]))
         return false;
      apart |= ranges[k - 1].low != ranges[k - 1].high;
   }
   if (apart)
      return machine_condition_range(step, ranges, result);
   for (uint32_t k = 0; k < 4; k++)
      values[k] = (uint64_t)ranges[k].low;
   const bool known = machine_condition_apply(step, values, &value);
   *result = single(value);
   return known;
}

bool machine_condition_step(rkb_machine_conditions_t *c, const struct step *step,
                            const rkb_plan_launch_t *launch, struct range *result) {
   const uint32_t to = c->function->operands[step->statement->operand].index;
   *result = single(0);
   c->known[to] = take_step(c, step, launch, result) &&
                  (step->operation == COMPARE || machine_condition_range_as(result, step->type));
   c->values[to] = *result;
   return c->known[to];
}

/* The size of which a place is a share; 0 for all that is no place. */
static uint32_t size_of_place(uint64_t special, const rkb_plan_launch_t *launch) {
   return machine_is_thread(special)  ? launch->block[special - PTX_SPECIAL_TID_X]
          : machine_is_place(special) ? launch->grid[special - PTX_SPECIAL_CTAID_X]
                                      : 0;
}

bool machine_condition_differs(const rkb_machine_conditions_t *c, const struct step *step,
                               const rkb_plan_launch_t *launch, const rkb_plan_launch_t *other) {
   const ptx_operand_t *operands = &c->function->operands[step->statement->operand];
   uint64_t value = 0, others = 0;
   if (step->operation == PARAMETER) {
      const bool known = parameter_of(c, step, launch, &value);
      return parameter_of(c, step, other, &others) != known || value != others;
   }
   bool differs = false;
   for (uint32_t k = 1; k < step->statement->operand_count; k++)
      if (operands[k].kind == PTX_OPERAND_SPECIAL) {
         const struct range a = special_of(c, operands[k].value, launch),
                            b = special_of(c, operands[k].value, other);
         differs |= a.low != b.low || a.high != b.high;
         if (c->followed == OF_ONE_THREAD) /* a place along an axis is a share of the size along it */
            differs |= size_of_place(operands[k].value, launch) != size_of_place(operands[k].value, other);
      }
   return differs;
}

bool machine_condition_is_first(const rkb_machine_conditions_t *c, const struct step *step,
                                const rkb_plan_launch_t *launch) {
   struct range first = {0}, result = {0};
   return range_of(c, step, &c->function->operands[step->statement->operand + 1], launch, &first) &&
          take_step(c, step, launch, &result) && machine_condition_range_as(&result, step->type) &&
          first.low == result.low;
}

/* How far the sides of a comparison are from equal; NAN where no two numbers are compared. */
double machine_condition_distance(const rkb_machine_conditions_t *c, const struct step *step,
                                  const rkb_plan_launch_t *launch) {
   const ptx_operand_t *operands = &c->function->operands[step->statement->operand];
   struct range left = {0}, right = {0};
   if (step->operation != COMPARE && step->operation != LEAST && step->operation != MOST)
      return NAN;
   if (!range_of(c, step, &operands[1], launch, &left) || !range_of(c, step, &operands[2], launch, &right))
      return NAN;
   if (ptx_type_is_float(step->from) && !step->joins)
      return machine_condition_number((uint64_t)left.low, step->from) -
             machine_condition_number((uint64_t)right.low, step->from);
   const uint32_t bits = 8 * ptx_type_bytes(step->from);
   return machine_integer_distance((uint64_t)left.low, (uint64_t)right.low, bits ? 64 - bits : 63,
                                   ptx_type_is_signed(step->from));
}
