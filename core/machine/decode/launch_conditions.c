/* The conditions in a kernel that all threads of a launch decide alike, from its parameters and the sizes of its grid and blocks alone: D %
 * 8 == 4, rows > 300.  Code that a kernel executes at some shapes only is behind one of them.  This file follows them, in integers, through
 * registers that get their value from one instruction without a guard.  It does not follow values from memory or from pointers, or values that
 * depend on a thread's index.  A list belongs to one thread. */
#include "machine/decode/conditions.h"
#include "machine/decode/condition_paths.h"
#include "machine/decode/fast_condition_steps.h"
#include "machine/decode/inlined_calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_FACTOR 4096 /* a larger number times a size may wrap */

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

/* Accesses of memory that one thread is followed through: their addresses are numbers, and a value that is not known is stored too. */
static bool follows_access(const rkb_machine_conditions_t *c, const ptx_statement_t *statement) {
   const ptx_operand_t *operands = &c->function->operands[statement->operand];
   return statement->guard == PTX_NONE && operands[0].kind == PTX_OPERAND_REGISTER &&
          (operands[1].kind != PTX_OPERAND_REGISTER || c->known[operands[1].index]);
}

/* Whether the statement may give its register a value that the launch decides.  It is asked before the words
 * are read, since most statements of a large kernel depend on threads or memory. */
static bool follows(const rkb_machine_conditions_t *c, const ptx_statement_t *statement,
                    const uint32_t *writers, bool lone) {
   const ptx_operand_t *operands = &c->function->operands[statement->operand];
   const uint32_t count = statement->operand_count, most = c->followed == OF_ONE_THREAD ? UINT32_MAX : 1;
   if (machine_condition_word(statement->opcode, 0, "shfl") && statement->guard == PTX_NONE && count > 3) {
      const ptx_operand_t *value = &operands[operands[1].paired ? 2 : 1];
      return c->followed != OF_BLOCKS && operands[0].kind == PTX_OPERAND_REGISTER &&
             writers[operands[0].index] == 1 && value->kind == PTX_OPERAND_REGISTER && c->known[value->index];
   }
   if (statement->guard != PTX_NONE || (!lone && (count < 2 || count > 5)) ||
       operands[0].kind != PTX_OPERAND_REGISTER || writers[operands[0].index] > most)
      return false;
   if (machine_condition_word(statement->opcode, 0, "ld"))
      return operands[1].kind == PTX_OPERAND_ADDRESS &&
             c->function->operands[operands[1].first].kind == PTX_OPERAND_SYMBOL;
   for (uint32_t k = 1; k < count; k++)
      if (operands[k].paired ||
          !(operands[k].kind == PTX_OPERAND_INTEGER || operands[k].kind == PTX_OPERAND_FLOAT32 ||
            operands[k].kind == PTX_OPERAND_FLOAT64 ||
            (operands[k].kind == PTX_OPERAND_SPECIAL &&
             (machine_is_size(operands[k].value) ||
              (c->followed != OF_LAUNCHES &&
               (machine_is_place(operands[k].value) || machine_is_thread(operands[k].value))))) ||
            (operands[k].kind == PTX_OPERAND_REGISTER && c->known[operands[k].index])))
         return false;
   return true;
}

/* One thread is followed through the text as if it had no branches, so a register may have several writers.  After a writer that is not followed,
 * the register has no value. */
static void forget(rkb_machine_conditions_t *c, const ptx_statement_t *statement) {
   const ptx_operand_t *to = &c->function->operands[statement->operand];
   if (c->followed != OF_ONE_THREAD || !statement->operand_count || statement->guard != PTX_NONE)
      return;
   if (to->kind == PTX_OPERAND_REGISTER)
      c->known[to->index] = false;
   for (uint32_t n = 0; to->kind == PTX_OPERAND_LIST && n < to->count; n++)
      if (c->function->operands[to->first + n].kind == PTX_OPERAND_REGISTER)
         c->known[c->function->operands[to->first + n].index] = false;
}

/* Whether the step makes a polynomial of polynomials, as far as numbers do not wrap. */
static bool keeps_smooth(const struct step *step, const ptx_operand_t *operands) {
   const enum operation o = step->operation;
   bool keeps = o <= MULTIPLY_ADD || o == LEFT || o == MINUS || o == COMPARE || o == LEAST || o == MOST ||
                o == PARAMETER || o == CONSTANT || o == SHUFFLE || o == CONVERT;
   for (uint32_t k = 1; k < step->statement->operand_count && keeps && o >= MULTIPLY && o <= LEFT; k++)
      keeps = operands[k].kind != PTX_OPERAND_INTEGER || llabs((int64_t)operands[k].value) <= LARGEST_FACTOR;
   return keeps && ptx_type_bytes(step->type) >= ptx_type_bytes(step->from) && step->rounding == NEAREST &&
          ptx_type_bytes(step->from) != 2;
}

/* Marks what may bend: each register has one writer, which comes before its readers. */
static bool mark_bends(rkb_machine_conditions_t *c) {
   bool *bends = calloc(c->function->register_count + 1, 2 * sizeof *bends);
   bool *joined = bends ? bends + c->function->register_count + 1 : NULL;
   for (uint32_t n = 0; bends && n < c->count; n++) {
      struct step *step = &c->steps[n];
      const ptx_operand_t *operands = &c->function->operands[step->statement->operand];
      step->bends = !keeps_smooth(step, operands);
      for (uint32_t k = 1; k < step->statement->operand_count; k++) {
         step->bends |= operands[k].kind == PTX_OPERAND_REGISTER && bends[operands[k].index];
         step->joins |= operands[k].kind == PTX_OPERAND_REGISTER && joined[operands[k].index] &&
                        step->operation == COMPARE && step->order <= DIFFERENT;
      }
      joined[operands[0].index] =
         step->operation == LONE && machine_condition_word(step->statement->opcode, 0, "mov");
      bends[operands[0].index] = step->bends || step->operation == LEAST || step->operation == MOST;
   }
   free(bends);
   return bends != NULL;
}

static bool is_register(const ptx_operand_t *operand) {
   return operand->kind == PTX_OPERAND_REGISTER;
}

/* Whether arithmetic decides by whether the step's result is 0.  This holds for a shift by a register, for a quotient by a size, for a sign, for
 * bits of these, and for results that saturate.  telling: registers with such results. */
static bool tells(const struct step *step, const ptx_operand_t *operands, const bool *telling) {
   const uint32_t bits = 8 * ptx_type_bytes(step->type);
   const bool from = is_register(&operands[1]) && telling[operands[1].index],
              by_size = step->statement->operand_count > 2 && is_register(&operands[2]),
              by = by_size && telling[operands[2].index];
   switch (step->operation) {
   case LEFT:
   case RIGHT:
      return by_size || from || (operands[2].kind == PTX_OPERAND_INTEGER && operands[2].value + 1 == bits);
   case FIELD:
      return from || by_size;
   case QUOTIENT:
      return by_size && !machine_condition_is_float(step);
   case AND:
   case LEAST:
   case BY_TABLE:
      return (from || by) && step->type != PTX_PRED;
   case MULTIPLY:
      return from || by || step->saturates;
   case COPY:
   case CONVERT:
      return from || step->saturates;
   default:
      return step->saturates;
   }
}

/* Marks steps that decide by their values.  Bits of a number's leading zeros count too: there are 32 of them if it is 0. */
static bool mark_telling(rkb_machine_conditions_t *c) {
   bool *telling = calloc(c->function->register_count + 1, sizeof *telling);
   for (uint32_t n = 0; telling && n < c->count && c->followed != OF_BLOCKS; n++) {
      struct step *step = &c->steps[n];
      const ptx_operand_t *operands = &c->function->operands[step->statement->operand];
      step->tells = tells(step, operands, telling);
      telling[operands[0].index] = step->tells || step->operation == LEADING_ZEROS;
   }
   free(telling);
   return telling != NULL;
}

rkb_machine_conditions_t *machine_conditions_read(const rkb_machine_module_t *module, const char *entry,
                                                  enum followed followed, machine_lone_make_t *make_lone) {
   rkb_machine_conditions_t *c = calloc(1, sizeof *c);
   uint32_t *writers = NULL;
   for (uint32_t n = 0; c && n < module->function_count; n++)
      if (module->functions[n].entry && strcmp(module->functions[n].name, entry) == 0)
         c->function = &module->functions[n];
   if (!c || !c->function || module->error_line)
      goto none;
   c->inlined = machine_inline_calls(module, c->function);
   if (c->inlined)
      c->function = c->inlined;
   c->make_lone = make_lone;
   c->split = machine_split_statements(c->function, followed == OF_ONE_THREAD);
   if (c->split)
      c->function = &c->split->function;
   c->module = module;
   c->followed = followed;
   c->steps = calloc(c->function->statement_count + 1, sizeof *c->steps);
   c->values = calloc(c->function->register_count + 1, sizeof *c->values);
   c->known = calloc(c->function->register_count + 1, sizeof *c->known);
   writers = calloc(c->function->register_count + 1, sizeof *writers);
   c->cells = followed == OF_ONE_THREAD ? machine_cells_new() : NULL;
   if (!c->steps || !c->values || !c->known || !writers || (followed == OF_ONE_THREAD && !c->cells))
      goto none;
   count_writers(c->function, writers);
   for (uint32_t n = 0; n < c->function->statement_count; n++) {
      struct step step = {.statement = &c->function->statements[n], .number = n};
      const enum split_kind kind = c->split ? c->split->origins[n].kind : SPLIT_NOT;
      const bool followed_so = kind == SPLIT_LOAD || kind == SPLIT_STORE
                                  ? follows_access(c, step.statement)
                                  : follows(c, step.statement, writers, kind == SPLIT_ALONE);
      if (!followed_so || !machine_condition_read_at(c, n, &step)) {
         forget(c, step.statement);
         continue;
      }
      c->known[c->function->operands[step.statement->operand].index] = true;
      c->steps[c->count++] = step;
   }
   c->lone = machine_condition_lone(c, c->steps, c->count);
   if (!mark_bends(c) || !mark_telling(c) || (followed == OF_ONE_THREAD && !machine_results_mark(c)))
      goto none;
   free(writers);
   return c;
none:
   free(writers);
   rkb_machine_conditions_free(c);
   return NULL;
}

bool rkb_machine_conditions_follow(rkb_machine_conditions_t *c, uint64_t *turns) {
   c->turns = turns;
   uint32_t *writers = c->paths ? NULL : calloc(c->function->register_count + 1, sizeof *writers);
   if (writers) { /* without memory fewer conditions are known */
      count_writers(c->function, writers);
      c->paths = machine_paths_new(c, writers);
   }
   free(writers);
   return c->paths != NULL;
}

bool rkb_machine_conditions_followed(const rkb_machine_conditions_t *c, uint32_t number) {
   return c->paths && machine_paths_test(c->paths, number);
}

void rkb_machine_conditions_free(rkb_machine_conditions_t *c) {
   if (!c)
      return;
   free(c->steps);
   free(c->values);
   free(c->known);
   free(c->read_later);
   free(c->plain);
   free(c->taken);
   machine_paths_free(c->paths);
   free(c->cells);
   machine_lone_free(c->lone);
   machine_split_free(c->split);
   machine_inlined_free(c->inlined);
   free(c);
}

/* A caller that wants only outcomes. */
struct outcomes {
   void (*visit)(void *argument, uint32_t number, bool outcome);
   void *argument;
};

static void take_outcome(void *argument, uint32_t number, bool outcome, double distance) {
   const struct outcomes *outcomes = argument;
   (void)distance;
   outcomes->visit(outcomes->argument, number, outcome);
}

/* Whether the step itself decides, without a comparison. */
static bool is_told(const struct step *step) {
   return step->tells && !step->condition && step->operation != LEAST && step->operation != MOST;
}

void rkb_machine_conditions_decide(rkb_machine_conditions_t *c, const rkb_plan_launch_t *launch,
                                   void (*visit)(void *argument, uint32_t number, bool outcome),
                                   void *argument) {
   struct range result;
   if (c->followed == OF_ONE_THREAD) {
      machine_results_follow(c, launch, NULL, take_outcome, &(struct outcomes){visit, argument});
      return;
   }
   for (uint32_t n = 0; n < c->count; n++) {
      const struct step *step = &c->steps[n];
      if (!machine_condition_step(c, step, launch, &result))
         continue;
      if (step->condition)
         visit(argument, step->number, result.low & 1);
      else if (step->operation == LEAST || step->operation == MOST)
         visit(argument, step->number, machine_condition_is_first(c, step, launch));
   }
   if (c->paths)
      machine_paths_follow(c, launch, take_outcome, &(struct outcomes){visit, argument});
   /* These come last, because callers that look at two conditions one after the other want comparisons to be neighbours. */
   for (uint32_t n = 0; n < c->count; n++) {
      const uint32_t to = c->function->operands[c->steps[n].statement->operand].index;
      if (is_told(&c->steps[n]) && c->known[to])
         visit(argument, c->steps[n].number, c->values[to].low != 0);
   }
}

/* Solving -------------------------------------------------------------------------------------------------------------- */

uint32_t rkb_machine_conditions_numbers(const rkb_machine_conditions_t *c) {
   return c->function->statement_count;
}

/* A caller that wants only some of the conditions. */
struct measuring {
   void (*visit)(void *argument, uint32_t number, bool outcome, double distance);
   void *argument;
   const uint8_t *wanted;
};

static void take_wanted(void *argument, uint32_t number, bool outcome, double distance) {
   const struct measuring *measuring = argument;
   if (measuring->wanted[number])
      measuring->visit(measuring->argument, number, outcome, distance);
}

void rkb_machine_conditions_measure(
   rkb_machine_conditions_t *c, const rkb_plan_launch_t *launch, const uint8_t *wanted,
   void (*visit)(void *argument, uint32_t number, bool outcome, double distance), void *argument) {
   struct range result;
   if (c->followed == OF_ONE_THREAD) {
      machine_results_follow(c, launch, wanted, visit, argument);
      return;
   }
   for (uint32_t n = 0; n < c->count; n++) {
      const struct step *step = &c->steps[n];
      if (!machine_condition_step(c, step, launch, &result) || !wanted[step->number])
         continue;
      if (step->condition)
         visit(argument, step->number, result.low & 1, machine_condition_distance(c, step, launch));
      else if (step->operation == LEAST || step->operation == MOST)
         visit(argument, step->number, machine_condition_is_first(c, step, launch),
               machine_condition_distance(c, step, launch));
      else if (is_told(step))
         visit(argument, step->number, result.low != 0, NAN);
   }
   if (c->paths)
      machine_paths_follow(c, launch, take_wanted, &(struct measuring){visit, argument, wanted});
}

bool rkb_machine_conditions_tell(const rkb_machine_conditions_t *c, const rkb_plan_launch_t *launch,
                                 const rkb_plan_launch_t *other) {
   bool tell = false;
   for (uint32_t n = 0; n < c->count && !tell; n++)
      tell = machine_condition_differs(c, &c->steps[n], launch, other);
   for (uint32_t n = 0; c->paths && n < c->paths->step_count && !tell; n++)
      tell = machine_condition_differs(c, &c->paths->steps[n], launch, other);
   return tell;
}

bool rkb_machine_conditions_smooth(const rkb_machine_conditions_t *c, uint32_t number) {
   bool smooth = false; /* it is not known of what a loop counts */
   for (uint32_t n = 0; n < c->count; n++)
      if (c->steps[n].number == number)
         smooth = !c->steps[n].bends;
   return smooth;
}

void rkb_machine_conditions_keep(rkb_machine_conditions_t *c, const uint8_t *wanted) {
   bool *needed = calloc(c->function->register_count + 1, sizeof *needed);
   uint32_t kept = 0;
   bool loads = false;
   if (!needed)
      return; /* then more is computed than is needed */
   if (c->paths && !machine_paths_need(c->paths, c->function, wanted, needed)) {
      machine_paths_free(c->paths);
      c->paths = NULL;
   }
   for (uint32_t n = c->count; n-- > 0;) { /* a register has a value before it is read */
      struct step *step = &c->steps[n];
      const ptx_operand_t *operands = &c->function->operands[step->statement->operand];
      if (!wanted[step->number] && !needed[operands[0].index] && !(loads && step->operation == STORE))
         continue;
      loads |= step->operation == LOAD;
      for (uint32_t k = 1; k < step->statement->operand_count; k++)
         if (operands[k].kind == PTX_OPERAND_REGISTER)
            needed[operands[k].index] = true;
      c->steps[c->count - ++kept] = *step;
   }
   memmove(c->steps, c->steps + c->count - kept, kept * sizeof *c->steps);
   c->count = kept;
   c->has_needed_alone = true;
   if (c->followed == OF_ONE_THREAD && !c->plain) /* without memory each step is taken as it stands */
      c->plain = machine_plain_steps_new(c, c->steps, c->count);
   free(needed);
}
