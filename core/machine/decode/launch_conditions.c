/* The conditions in a kernel that all threads of a launch decide alike, from its parameters and the sizes of its grid and blocks alone: D % 8 == 4, rows > 300.  What a
 * kernel does at some shapes only is behind one of them.  Followed through registers that one instruction without a guard gives a value, in integers; what
 * comes from memory or from pointers is not followed, nor here what comes from a thread's index.  A list belongs to one thread. */
#include "machine/decode/conditions.h"
#include "machine/decode/written_variables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reading -------------------------------------------------------------------------------------------------------------- */

/* Whether the opcode's n-th word is this one. */
static bool word_is(const char *opcode, uint32_t n, const char *word) {
   for (; n && opcode; n--)
      opcode = strchr(opcode, '.') ? strchr(opcode, '.') + 1 : NULL;
   const size_t length = strlen(word);
   return opcode && strncmp(opcode, word, length) == 0 && (opcode[length] == '.' || opcode[length] == '\0');
}

static uint32_t type_at_end(const char *opcode, uint32_t from_end) {
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

static bool read_operation(const char *opcode, struct step *step) {
   static const struct {
      const char *word;
      enum operation operation;
   } names[] = {{"mov", COPY},      {"cvt", COPY},         {"add", ADD},           {"sub", SUBTRACT},
                {"mul", MULTIPLY},  {"mad", MULTIPLY_ADD}, {"and", AND},           {"or", OR},
                {"xor", XOR},       {"not", NOT},          {"shl", LEFT},          {"shr", RIGHT},
                {"rem", REMAINDER}, {"div", QUOTIENT},     {"min", LEAST},         {"max", MOST},
                {"neg", MINUS},     {"abs", SIZE},         {"popc", ONES},         {"setp", COMPARE},
                {"selp", CHOOSE},   {"ld", PARAMETER},     {"clz", LEADING_ZEROS}, {"brev", REVERSED},
                {"bfe", FIELD},     {"prmt", BYTES},       {"lop3", BY_TABLE},     {"shf", FUNNEL_LEFT},
                {"shfl", SHUFFLE}};
   uint32_t n = 0;
   while (n < sizeof names / sizeof *names && !word_is(opcode, 0, names[n].word))
      n++;
   if (n == sizeof names / sizeof *names)
      return false;
   step->operation = names[n].operation;
   step->type = step->from = type_at_end(opcode, 0);
   const bool wide = word_is(opcode, 1, "wide"),
              multiplies = step->operation == MULTIPLY || step->operation == MULTIPLY_ADD;
   if (multiplies && word_is(opcode, 1, "hi"))
      step->operation = step->operation == MULTIPLY ? MULTIPLY_HIGH : ADD_HIGH;
   else if (multiplies && !wide && !word_is(opcode, 1, "lo"))
      return false;
   if (step->operation == FUNNEL_LEFT && word_is(opcode, 1, "r"))
      step->operation = FUNNEL_RIGHT;
   if (step->operation == BYTES && !word_is(opcode, 1, "b32")) /* with a mode */
      return false;
   if (wide && step->from != PTX_U32 && step->from != PTX_S32)
      return false;
   if (wide)
      step->type = step->from == PTX_S32 ? PTX_S64 : PTX_U64;
   if (word_is(opcode, 0, "cvt"))
      step->type = type_at_end(opcode, 1);
   if (step->operation == PARAMETER && !word_is(opcode, 1, "param"))
      step->operation = CONSTANT;
   if (step->operation == CONSTANT && !word_is(opcode, 1, "const") && !word_is(opcode, 1, "global"))
      return false;
   if (step->operation == COMPARE) {
      const char *comparison = strchr(opcode, '.') + 1;
      if (strchr(comparison, '.') != comparison + 2 ||
          strchr(comparison + 3, '.')) /* joined with another predicate */
         return false;
      memcpy(step->comparison, comparison, 2);
   }
   step->condition = step->operation == COMPARE ||
                     (step->type == PTX_PRED && (step->operation == AND || step->operation == OR));
   return step->type != PTX_NO_TYPE && step->from != PTX_NO_TYPE && !ptx_type_is_float(step->type) &&
          !ptx_type_is_float(step->from) && ptx_type_bytes(step->type) <= 8;
}

static bool is_size(uint64_t special) {
   return (special >= PTX_SPECIAL_NTID_X && special <= PTX_SPECIAL_NTID_Z) ||
          (special >= PTX_SPECIAL_NCTAID_X && special <= PTX_SPECIAL_NCTAID_Z);
}

/* Counts how many statements give each register a value. */
static void count_writers(const ptx_function_t *function, uint32_t *writers) {
   for (uint32_t n = 0; n < function->statement_count; n++) {
      const ptx_statement_t *s = &function->statements[n];
      for (uint32_t k = 0; k < s->operand_count; k++) {
         const ptx_operand_t *o = &function->operands[s->operand + k];
         if (k && !o->paired)
            break;
         for (uint32_t e = 0; o->kind == PTX_OPERAND_LIST && e < o->count; e++)
            if (function->operands[o->first + e].kind == PTX_OPERAND_REGISTER)
               writers[function->operands[o->first + e].index]++;
         if (o->kind == PTX_OPERAND_REGISTER)
            writers[o->index] += 1 + (s->guard != PTX_NONE);
      }
   }
}

/* Whether the statement may give its register a value that the launch decides.  It is asked before the words
 * are read, since most statements of a large kernel depend on threads or memory. */
static bool follows(const rkb_machine_conditions_t *c, const ptx_statement_t *statement,
                    const uint32_t *writers) {
   const ptx_operand_t *operands = &c->function->operands[statement->operand];
   const uint32_t count = statement->operand_count;
   if (word_is(statement->opcode, 0, "shfl") && statement->guard == PTX_NONE && count > 3) {
      const ptx_operand_t *value = &operands[operands[1].paired ? 2 : 1];
      return !c->of_blocks && operands[0].kind == PTX_OPERAND_REGISTER && writers[operands[0].index] == 1 &&
             value->kind == PTX_OPERAND_REGISTER && c->known[value->index];
   }
   if (statement->guard != PTX_NONE || count < 2 || count > 5 || operands[0].kind != PTX_OPERAND_REGISTER ||
       writers[operands[0].index] != 1)
      return false;
   if (word_is(statement->opcode, 0, "ld"))
      return operands[1].kind == PTX_OPERAND_ADDRESS &&
             c->function->operands[operands[1].first].kind == PTX_OPERAND_SYMBOL;
   for (uint32_t k = 1; k < count; k++)
      if (operands[k].paired ||
          !(operands[k].kind == PTX_OPERAND_INTEGER ||
            (operands[k].kind == PTX_OPERAND_SPECIAL &&
             (is_size(operands[k].value) || (c->of_blocks && (machine_is_place(operands[k].value) ||
                                                              machine_is_thread(operands[k].value))))) ||
            (operands[k].kind == PTX_OPERAND_REGISTER && c->known[operands[k].index])))
         return false;
   return true;
}

rkb_machine_conditions_t *machine_conditions_read(const rkb_machine_module_t *module, const char *entry,
                                                  bool of_blocks) {
   rkb_machine_conditions_t *c = calloc(1, sizeof *c);
   uint32_t *writers = NULL;
   for (uint32_t n = 0; c && n < module->function_count; n++)
      if (module->functions[n].entry && strcmp(module->functions[n].name, entry) == 0)
         c->function = &module->functions[n];
   if (!c || !c->function || module->error_line)
      goto none;
   c->module = module;
   c->of_blocks = of_blocks;
   c->steps = calloc(c->function->statement_count + 1, sizeof *c->steps);
   c->values = calloc(c->function->register_count + 1, sizeof *c->values);
   c->known = calloc(c->function->register_count + 1, sizeof *c->known);
   writers = calloc(c->function->register_count + 1, sizeof *writers);
   if (!c->steps || !c->values || !c->known || !writers)
      goto none;
   count_writers(c->function, writers);
   for (uint32_t n = 0; n < c->function->statement_count; n++) {
      struct step step = {.statement = &c->function->statements[n], .number = n};
      if (!follows(c, step.statement, writers) || !read_operation(step.statement->opcode, &step))
         continue;
      c->known[c->function->operands[step.statement->operand].index] = true;
      c->steps[c->count++] = step;
   }
   free(writers);
   return c;
none:
   free(writers);
   rkb_machine_conditions_free(c);
   return NULL;
}

rkb_machine_conditions_t *rkb_machine_conditions_new(const rkb_machine_module_t *module, const char *entry) {
   return machine_conditions_read(module, entry, false);
}

void rkb_machine_conditions_free(rkb_machine_conditions_t *c) {
   if (!c)
      return;
   free(c->steps);
   free(c->values);
   free(c->known);
   free(c);
}

/* Deciding ------------------------------------------------------------------------------------------------------------- */

static bool compare(const char *how, uint64_t a, uint64_t b, bool is_signed) {
   const bool less = is_signed ? (int64_t)a < (int64_t)b : a < b, equal = a == b;
   return strcmp(how, "eq") == 0                             ? equal
          : strcmp(how, "ne") == 0                           ? !equal
          : strcmp(how, "lt") == 0 || strcmp(how, "lo") == 0 ? less
          : strcmp(how, "le") == 0 || strcmp(how, "ls") == 0 ? less || equal
          : strcmp(how, "gt") == 0 || strcmp(how, "hi") == 0 ? !less && !equal
                                                             : !less;
}

bool machine_condition_apply(const struct step *step, const uint64_t operands[4], uint64_t *result) {
   const uint64_t a = operands[0], b = operands[1], c = operands[2];
   const bool is_signed = ptx_type_is_signed(step->from);
   if (step->operation > PARAMETER)
      return machine_condition_apply_bits(step, operands, result);
   const uint32_t bits = 8 * ptx_type_bytes(step->type);
   switch (step->operation) {
   case ADD:
      *result = a + b;
      break;
   case SUBTRACT:
      *result = a - b;
      break;
   case MULTIPLY:
      *result = a * b;
      break;
   case MULTIPLY_ADD:
      *result = a * b + c;
      break;
   case AND:
      *result = a & b;
      break;
   case OR:
      *result = a | b;
      break;
   case XOR:
      *result = a ^ b;
      break;
   case NOT:
      *result = ~a;
      break;
   case LEFT:
      *result = b < bits ? a << b : 0;
      break;
   case RIGHT:
      *result = b < bits                      ? (is_signed ? (uint64_t)((int64_t)a >> b) : a >> b)
                : is_signed && (int64_t)a < 0 ? ~UINT64_C(0)
                                              : 0;
      break;
   case REMAINDER:
   case QUOTIENT:
      if (b == 0 || (is_signed && b == ~UINT64_C(0)))
         return false;
      *result = step->operation == REMAINDER ? (is_signed ? (uint64_t)((int64_t)a % (int64_t)b) : a % b)
                                             : (is_signed ? (uint64_t)((int64_t)a / (int64_t)b) : a / b);
      break;
   case LEAST:
      *result = compare("lt", a, b, is_signed) ? a : b;
      break;
   case MOST:
      *result = compare("lt", a, b, is_signed) ? b : a;
      break;
   case MINUS:
      *result = 0 - a;
      break;
   case SIZE:
      *result = (int64_t)a < 0 ? 0 - a : a;
      break;
   case ONES:
      *result = (uint64_t)__builtin_popcountll(step->from == PTX_B32 ? a & UINT32_MAX : a);
      break;
   case COMPARE:
      *result = compare(step->comparison, a, b, is_signed);
      break;
   case CHOOSE:
      *result = c & 1 ? a : b;
      break;
   default:
      *result = a;
      break;
   }
   return true;
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
   if (machine_is_thread(special))
      return (struct range){0, (int64_t)launch->block[special - PTX_SPECIAL_TID_X] - 1};
   return single(machine_is_place(special)         ? c->block[special - PTX_SPECIAL_CTAID_X]
                 : special >= PTX_SPECIAL_NCTAID_X ? launch->grid[special - PTX_SPECIAL_NCTAID_X]
                                                   : launch->block[special - PTX_SPECIAL_NTID_X]);
}

static bool range_of(const rkb_machine_conditions_t *c, const struct step *step, const ptx_operand_t *operand,
                     const rkb_plan_launch_t *launch, struct range *value) {
   if (operand->kind == PTX_OPERAND_REGISTER && !c->known[operand->index])
      return false;
   *value = operand->kind == PTX_OPERAND_REGISTER  ? c->values[operand->index]
            : operand->kind == PTX_OPERAND_INTEGER ? single(operand->value)
                                                   : special_of(c, operand->value, launch);
   if (operand->kind == PTX_OPERAND_REGISTER && operand->negated)
      *value = (struct range){value->high ^ 1, value->low ^ 1};
   return step->operation == CHOOSE || machine_condition_range_as(value, step->from);
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

/* Which of the two a least or largest number is: what `min(C, 65)` decides, where it is written as no comparison. */
static bool is_first(const rkb_machine_conditions_t *c, const struct step *step,
                     const rkb_plan_launch_t *launch, const struct range *result) {
   struct range first = {0};
   return range_of(c, step, &c->function->operands[step->statement->operand + 1], launch, &first) &&
          first.low == result->low;
}

void rkb_machine_conditions_decide(rkb_machine_conditions_t *c, const rkb_plan_launch_t *launch,
                                   void (*visit)(void *argument, uint32_t number, bool outcome),
                                   void *argument) {
   struct range result;
   for (uint32_t n = 0; n < c->count; n++) {
      const struct step *step = &c->steps[n];
      if (!machine_condition_step(c, step, launch, &result))
         continue;
      if (step->condition)
         visit(argument, step->number, result.low & 1);
      else if (step->operation == LEAST || step->operation == MOST)
         visit(argument, step->number, is_first(c, step, launch, &result));
   }
}

/* Solving -------------------------------------------------------------------------------------------------------------- */

uint32_t rkb_machine_conditions_numbers(const rkb_machine_conditions_t *c) {
   return c->function->statement_count;
}

/* How far the sides of a comparison are from equal; NAN where no two numbers are compared. */
static double distance_of(const rkb_machine_conditions_t *c, const struct step *step,
                          const rkb_plan_launch_t *launch) {
   const ptx_operand_t *operands = &c->function->operands[step->statement->operand];
   struct range left = {0}, right = {0};
   if (step->operation != COMPARE && step->operation != LEAST && step->operation != MOST)
      return NAN;
   if (!range_of(c, step, &operands[1], launch, &left) || !range_of(c, step, &operands[2], launch, &right))
      return NAN;
   return (double)left.low - (double)right.low;
}

void rkb_machine_conditions_measure(
   rkb_machine_conditions_t *c, const rkb_plan_launch_t *launch, const uint8_t *wanted,
   void (*visit)(void *argument, uint32_t number, bool outcome, double distance), void *argument) {
   struct range result;
   for (uint32_t n = 0; n < c->count; n++) {
      const struct step *step = &c->steps[n];
      if (!machine_condition_step(c, step, launch, &result) || !wanted[step->number])
         continue;
      if (step->condition)
         visit(argument, step->number, result.low & 1, distance_of(c, step, launch));
      else if (step->operation == LEAST || step->operation == MOST)
         visit(argument, step->number, is_first(c, step, launch, &result), distance_of(c, step, launch));
   }
}

void rkb_machine_conditions_keep(rkb_machine_conditions_t *c, const uint8_t *wanted) {
   bool *needed = calloc(c->function->register_count + 1, sizeof *needed);
   uint32_t kept = 0;
   if (!needed)
      return;                              /* more is computed than has to be */
   for (uint32_t n = c->count; n-- > 0;) { /* a register has a value before it is read */
      struct step *step = &c->steps[n];
      const ptx_operand_t *operands = &c->function->operands[step->statement->operand];
      if (!wanted[step->number] && !needed[operands[0].index])
         continue;
      for (uint32_t k = 1; k < step->statement->operand_count; k++)
         if (operands[k].kind == PTX_OPERAND_REGISTER)
            needed[operands[k].index] = true;
      c->steps[c->count - ++kept] = *step;
   }
   memmove(c->steps, c->steps + c->count - kept, kept * sizeof *c->steps);
   c->count = kept;
   free(needed);
}
