/* What one thread of a launch computes from parameters, sizes and its own place.
 *
 * A size can decide without a comparison of sizes alone.  A factor may be 1 at all sizes but one: 1 + 1 / (1 + 1e20f * (D - 1237) * (D - 1237)).
 * And a comparison may contain the index of a thread that does not matter: D + (threadIdx.x >> 10) == 1237.  So this file follows one thread,
 * whose place in its block and in the grid is drawn from a secret.  A comparison of this thread counts if another thread's place does not change
 * it.  A number that the thread uses together with values from memory also counts: its outcome is whether it is what it was at the first launch
 * that was looked at.  A caller that searches for shapes looks for comparisons and numbers whose outcome is the same at all of its shapes.  The
 * thread is followed through the text as if that had no branches: what is found only says where to look.  On the thread of the list. */
#include "machine/decode/conditions.h"
#include "machine/decode/fast_condition_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALIKE 0x1p-8    /* floating-point numbers that differ by no more than this share count as the same */
#define NOTHING 0x1p-30 /* smaller numbers count as 0 */
#define PLACE_BITS 10u  /* of a place along one axis */

enum { BY_SIZE = 1, BY_PLACE = 2, BY_MEMORY = 4 };

static bool is_predicate(const struct step *step) {
   return step->operation == COMPARE || step->type == PTX_PRED;
}

static void mark_used(const rkb_machine_conditions_t *c, const ptx_operand_t *operand, bool *used) {
   if (operand->kind == PTX_OPERAND_REGISTER && c->known[operand->index])
      used[operand->index] = true;
   if (operand->kind == PTX_OPERAND_ADDRESS)
      mark_used(c, &c->function->operands[operand->first], used);
   for (uint32_t n = 0; operand->kind == PTX_OPERAND_LIST && n < operand->count; n++)
      mark_used(c, &c->function->operands[operand->first + n], used);
}

/* stored: what the values depend on that were stored so far. */
static uint8_t from_what(const struct step *step, const ptx_operand_t *operands, const uint8_t *from,
                         uint8_t *stored) {
   uint8_t what = step->operation == PARAMETER ? BY_SIZE : 0;
   for (uint32_t k = 1; k < step->statement->operand_count; k++)
      what |= operands[k].kind == PTX_OPERAND_REGISTER  ? from[operands[k].index]
              : operands[k].kind != PTX_OPERAND_SPECIAL ? 0
              : machine_is_size(operands[k].value)      ? BY_SIZE
                                                        : BY_PLACE;
   if (step->operation == STORE)
      *stored |= what & (BY_SIZE | BY_PLACE);
   if (step->operation == LOAD)
      what = *stored & BY_SIZE ? *stored | BY_MEMORY : *stored;
   return what;
}

/* By register: whether a statement that is no step, or a step that depends on the thread's place, uses it.  from: by step, what its result depends
 * on. */
static void find_used(const rkb_machine_conditions_t *c, const uint8_t *from, bool *used) {
   uint32_t next = 0;
   for (uint32_t n = 0; n < c->function->statement_count; n++) {
      const ptx_statement_t *statement = &c->function->statements[n];
      const bool is_step = next < c->count && c->steps[next].number == n,
                 passes = is_step && !(from[next] & BY_PLACE) && c->steps[next].operation != STORE;
      next += is_step;
      for (uint32_t k = is_step; k < statement->operand_count && !passes; k++)
         mark_used(c, &c->function->operands[statement->operand + k], used);
   }
}

/* Numbers that depend only on a thread's place are no results, because they are the same everywhere.  Whole numbers that depend on the place are
 * no results either, because an offset of a first row or column is 0 at most shapes. */
bool machine_results_mark(rkb_machine_conditions_t *c) {
   const size_t registers = (size_t)c->function->register_count + 1;
   bool *used = calloc(registers, sizeof *used);
   uint8_t *of_register = calloc(registers, sizeof *of_register), *from = calloc((size_t)c->count + 1, 1);
   const bool made = used && of_register && from;
   uint8_t stored = 0;
   for (uint32_t n = 0; made && n < c->count; n++) {
      const ptx_operand_t *operands = &c->function->operands[c->steps[n].statement->operand];
      of_register[operands[0].index] = from[n] = from_what(&c->steps[n], operands, of_register, &stored);
   }
   if (made)
      find_used(c, from, used);
   for (uint32_t n = 0; made && n < c->count; n++) {
      struct step *step = &c->steps[n];
      const uint32_t to = c->function->operands[step->statement->operand].index;
      const uint8_t what = from[n] & (BY_SIZE | BY_PLACE);
      step->by_place = from[n] & BY_PLACE;
      if (is_predicate(step))
         step->counts = step->operation == COMPARE && (what == (BY_SIZE | BY_PLACE) || from[n] & BY_MEMORY);
      else
         step->counts = (what == BY_SIZE || (from[n] & BY_SIZE && ptx_type_is_float(step->type))) &&
                        used[to] && step->operation != PARAMETER && step->operation != COPY &&
                        step->operation != STORE;
   }
   free(used);
   free(of_register);
   free(from);
   c->read_later = calloc(registers, sizeof *c->read_later);
   return made && c->read_later;
}

/* The thread and its block, as far along each axis as the place says. */
static void go_to(rkb_machine_conditions_t *c, const rkb_plan_launch_t *launch, uint64_t place) {
   machine_cells_clear(c->cells);
   for (uint32_t d = 0; d < 3; d++) {
      const uint64_t in_block = place >> d * PLACE_BITS & ((1u << PLACE_BITS) - 1),
                     in_grid = place >> (d + 3) * PLACE_BITS & ((1u << PLACE_BITS) - 1);
      c->thread[d] = (uint32_t)(in_block * launch->block[d] >> PLACE_BITS);
      c->block[d] = (uint32_t)(in_grid * launch->grid[d] >> PLACE_BITS);
   }
}

static bool is_alike(uint64_t bits, uint64_t other, uint32_t type) {
   if (bits == other || !ptx_type_is_float(type))
      return bits == other;
   const double a = machine_condition_number(bits, type), b = machine_condition_number(other, type);
   return (fabs(a) < NOTHING && fabs(b) < NOTHING) || fabs(a - b) <= ALIKE * fmax(fabs(a), fabs(b)) ||
          (isnan(a) && isnan(b));
}

static bool outcome_of(struct step *step, uint64_t value) {
   if (is_predicate(step))
      return value & 1;
   if (!step->has_first)
      step->first = value;
   step->has_first = true;
   return is_alike(value, step->first, step->type);
}

/* Returns the number that a place may change: how far a comparison's sides are from equal, or a result. */
static double size_of(const rkb_machine_conditions_t *c, const struct step *step,
                      const rkb_plan_launch_t *launch, uint64_t value) {
   return is_predicate(step) ? machine_condition_distance(c, step, launch)
                             : machine_condition_number(value, step->type);
}

/* Marks the steps that count and are wanted, and those from which they are computed.  A step before counts up to where its register is written again.
 * wanted: NULL, if all are; by_place: only those that depend on the place. */
static void mark_needed(rkb_machine_conditions_t *c, const uint8_t *wanted, bool by_place) {
   memset(c->read_later, 0, ((size_t)c->function->register_count + 1) * sizeof *c->read_later);
   bool loads = false;
   for (uint32_t n = c->count; n-- > 0;) {
      struct step *step = &c->steps[n];
      const ptx_operand_t *operands = &c->function->operands[step->statement->operand];
      bool *later = &c->read_later[operands[0].index];
      step->needed = *later || (loads && step->operation == STORE) ||
                     (step->counts && (step->by_place || !by_place) && (!wanted || wanted[step->number]));
      loads |= step->needed && step->operation == LOAD;
      *later = false;
      for (uint32_t k = 1; k < step->statement->operand_count && step->needed; k++)
         if (operands[k].kind == PTX_OPERAND_REGISTER)
            c->read_later[operands[k].index] = true;
   }
}

/* The same for all steps that count.  Which ones these are seldom changes from launch to launch. */
static void mark_counting(rkb_machine_conditions_t *c) {
   if (c->is_marked)
      return;
   mark_needed(c, NULL, true);
   for (uint32_t n = 0; n < c->count; n++)
      c->steps[n].needed_there = c->steps[n].needed;
   mark_needed(c, NULL, false);
   c->is_marked = true;
}

/* Notes the numbers that depend on the place, at the other place. */
static void note_other_place(rkb_machine_conditions_t *c, const rkb_plan_launch_t *launch, double *sizes) {
   struct range result;
   go_to(c, launch, c->other_place);
   for (uint32_t n = 0; n < c->count; n++) {
      const struct step *step = &c->steps[n];
      const bool known = step->needed_there && machine_condition_step(c, step, launch, &result);
      sizes[n] =
         known && step->counts && step->by_place ? size_of(c, step, launch, (uint64_t)result.low) : NAN;
   }
}

/* Computes the n-th step's register, if that is not the same as at the launch before.  False: the value is not known. */
static inline bool take_or_keep(rkb_machine_conditions_t *c, uint32_t n, const rkb_plan_launch_t *launch) {
   const struct step *step = &c->steps[n];
   struct plain_result quick;
   struct range result;
   if (step->held)
      return c->known[c->function->operands[step->statement->operand].index];
   return c->plain && machine_plain_step(c, c->plain, n, &quick)
             ? quick.known
             : machine_condition_step(c, step, launch, &result);
}

void machine_results_follow(rkb_machine_conditions_t *c, const rkb_plan_launch_t *launch,
                            const uint8_t *wanted,
                            void (*visit)(void *argument, uint32_t number, bool outcome, double distance),
                            void *argument) {
   double *sizes = wanted ? NULL : malloc(((size_t)c->count + 1) * sizeof *sizes);
   if (!wanted) {
      mark_counting(c);
   } else if (!c->has_needed_alone) {
      mark_needed(c, wanted, false);
      c->is_marked = false;
   }
   if (sizes)
      note_other_place(c, launch, sizes);
   go_to(c, launch, c->place);
   for (uint32_t k = 0, count = c->taken ? c->taken_count : c->count; k < count; k++) {
      const uint32_t n = c->taken ? c->taken[k] : k;
      struct step *step = &c->steps[n];
      if ((!step->needed && !c->has_needed_alone) || !take_or_keep(c, n, launch) || !step->counts)
         continue;
      const uint64_t value = (uint64_t)c->values[c->function->operands[step->statement->operand].index].low;
      if (sizes && step->by_place && !(fabs(size_of(c, step, launch, value) - sizes[n]) <= 0))
         step->counts = c->is_marked = false; /* the number differs at the other place */
      else if (!wanted || wanted[step->number])
         visit(argument, step->number, outcome_of(step, value), machine_condition_distance(c, step, launch));
   }
   free(sizes);
}

bool rkb_machine_results_count(const rkb_machine_conditions_t *c, uint32_t number) {
   bool counts = false;
   for (uint32_t n = 0; n < c->count; n++)
      counts |= c->steps[n].number == number && c->steps[n].counts;
   return counts;
}

/* Along a dim ---------------------------------------------------------------------------------------------------------------- */

enum { MOVES = 1, SEVERAL = 2, WRITTEN = 4, LIVE = 8 };

/* Marks the registers that the list writes more than once: a value that stays is not there any more when it is read again. */
static void mark_several_writers(const rkb_machine_conditions_t *c, uint8_t *marks) {
   for (uint32_t n = 0; n < c->count; n++) {
      uint8_t *to = &marks[c->function->operands[c->steps[n].statement->operand].index];
      *to |= *to & WRITTEN ? SEVERAL : WRITTEN;
   }
}

/* Whether a register that the step reads has one of these marks. */
static bool reads(const rkb_machine_conditions_t *c, const struct step *step, const uint8_t *marks,
                  uint8_t mark) {
   const ptx_operand_t *operands = &c->function->operands[step->statement->operand];
   bool any = false;
   for (uint32_t k = 1; k < step->statement->operand_count; k++)
      any |= operands[k].kind == PTX_OPERAND_REGISTER && marks[operands[k].index] & mark;
   return any;
}

/* Marks as held the steps whose numbers stay.  A load may give another number after a store that changed. */
static void hold_what_stays(rkb_machine_conditions_t *c, const rkb_plan_launch_t *launch,
                            const rkb_plan_launch_t *other, uint8_t *marks) {
   bool stored = false;
   for (uint32_t n = 0; n < c->count; n++) {
      struct step *step = &c->steps[n];
      uint8_t *to = &marks[c->function->operands[step->statement->operand].index];
      /* what the size of a warp decides is in no operand */
      const bool moves = step->operation == LONE || reads(c, step, marks, MOVES) ||
                         (step->operation == LOAD && stored) ||
                         machine_condition_differs(c, step, launch, other);
      stored |= moves && step->operation == STORE;
      step->held = !moves;
      *to = (uint8_t)(moves ? *to | MOVES : *to & ~MOVES);
   }
}

/* Of the held steps, these are computed all the same: writers of a register with several writers from which another number is computed, and stores before a load
 * that is computed, since cells are empty at the beginning of a launch. */
static void compute_what_is_read(rkb_machine_conditions_t *c, uint8_t *marks) {
   bool loads = false;
   for (uint32_t n = c->count; n-- > 0;) {
      struct step *step = &c->steps[n];
      const ptx_operand_t *operands = &c->function->operands[step->statement->operand];
      uint8_t *to = &marks[operands[0].index];
      const bool is_told = step->counts && (*to & SEVERAL || reads(c, step, marks, SEVERAL));
      step->held &= step->operation == STORE ? !loads : !(*to & LIVE || is_told);
      if (step->operation != STORE)
         *to &= (uint8_t)~LIVE;
      loads |= !step->held && step->operation == LOAD;
      for (uint32_t k = 1; k < step->statement->operand_count && !step->held; k++)
         if (operands[k].kind == PTX_OPERAND_REGISTER && marks[operands[k].index] & SEVERAL)
            marks[operands[k].index] |= LIVE;
   }
}

/* Without memory for the list all steps are gone through. */
static void list_taken(rkb_machine_conditions_t *c) {
   c->taken = malloc(((size_t)c->count + 1) * sizeof *c->taken);
   c->taken_count = 0;
   for (uint32_t n = 0; c->taken && n < c->count; n++)
      if (!c->steps[n].held || c->steps[n].counts)
         c->taken[c->taken_count++] = n;
}

void rkb_machine_conditions_hold(rkb_machine_conditions_t *c, const rkb_plan_launch_t *launch,
                                 const rkb_plan_launch_t *other) {
   uint8_t *marks = other && c->followed == OF_ONE_THREAD
                       ? calloc((size_t)c->function->register_count + 1, sizeof *marks)
                       : NULL; /* by register */
   free(c->taken);
   c->taken = NULL;
   for (uint32_t n = 0; n < c->count; n++)
      c->steps[n].held = false;
   if (marks) {
      mark_several_writers(c, marks);
      hold_what_stays(c, launch, other, marks);
      compute_what_is_read(c, marks);
      list_taken(c);
   }
   free(marks);
}
