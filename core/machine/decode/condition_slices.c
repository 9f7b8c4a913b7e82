/* Finds the conditions of registers that several statements give a value (condition_paths.h), such as what a loop counted or what a branch chose.
 * It also finds what these conditions need: a slice of statements, and the branches that decide whether these statements are executed.  The test
 * that ends a loop with a plain counter is no such condition, because it has both outcomes at any size.  No state. */
#include "machine/decode/condition_paths.h"
#include "machine/decode/fast_condition_steps.h"

#include <stdlib.h>
#include <string.h>

/* What may be decided ---------------------------------------------------------------------------------------------------- */

struct search {
   rkb_machine_conditions_t *c;
   struct condition_paths *paths;
   const ptx_function_t *function;
   const uint32_t *writers;
   struct step *steps; /* by statement */
   bool *may;          /* by statement: it may have a value that the launch decides */
   bool *is_open;      /* by register: all its writers may, and the text alone does not tell its value */
   bool *is_plain;     /* by register: a counter */
   uint32_t *uses;     /* by register */
   bool *needed;       /* by statement */
   bool *wanted;       /* by register */
};

static bool is_known(const struct search *s, uint32_t index) {
   return s->c->known[index] || s->is_open[index];
}

/* Looks at the operands from the second on that name registers; of a shuffle, only at its value. */
static bool operands_may(const struct search *s, const ptx_statement_t *statement) {
   const ptx_operand_t *operands = &s->function->operands[statement->operand];
   bool may = statement->guard == PTX_NONE || is_known(s, statement->guard);
   for (uint32_t k = 1; k < statement->operand_count && may; k++)
      may = operands[k].kind != PTX_OPERAND_REGISTER || is_known(s, operands[k].index);
   return may;
}

static void close_register(struct search *s, const ptx_operand_t *operand, bool *changed) {
   *changed |= s->is_open[operand->index];
   s->is_open[operand->index] = false;
}

/* Notes that a launch decides no value of the registers to which the statement gives values. */
static void close_results(struct search *s, const ptx_statement_t *statement, bool *changed) {
   const ptx_operand_t *operands = &s->function->operands[statement->operand];
   for (uint32_t k = 0; k < statement->operand_count && (k == 0 || operands[k].paired); k++) {
      if (operands[k].kind == PTX_OPERAND_REGISTER)
         close_register(s, &operands[k], changed);
      for (uint32_t e = 0; operands[k].kind == PTX_OPERAND_LIST && e < operands[k].count; e++)
         if (s->function->operands[operands[k].first + e].kind == PTX_OPERAND_REGISTER)
            close_register(s, &s->function->operands[operands[k].first + e], changed);
   }
}

static void narrow(struct search *s) {
   bool changed = true;
   while (changed) {
      changed = false;
      for (uint32_t n = 0; n < s->function->statement_count; n++)
         if (s->may[n] && !operands_may(s, &s->function->statements[n])) {
            s->may[n] = false;
            close_results(s, &s->function->statements[n], &changed);
         }
   }
}

static bool find_open(struct search *s) {
   bool changed = false, any = false;
   for (uint32_t r = 0; r < s->function->register_count; r++)
      s->is_open[r] = s->writers[r] > 0 && !s->c->known[r];
   for (uint32_t n = 0; n < s->function->statement_count; n++) {
      s->may[n] =
         machine_condition_operands(s->c, &s->function->statements[n], machine_condition_is_lone(s->c, n));
      if (!s->may[n])
         close_results(s, &s->function->statements[n], &changed);
   }
   narrow(s);
   for (uint32_t n = 0; n < s->function->statement_count; n++) {
      const ptx_statement_t *statement = &s->function->statements[n];
      s->may[n] = s->may[n] && s->is_open[s->function->operands[statement->operand].index];
      s->steps[n] = (struct step){.statement = statement, .number = n};
      if (s->may[n] && !machine_condition_read_at(s->c, n, &s->steps[n])) {
         s->may[n] = false;
         close_results(s, statement, &changed);
      }
   }
   narrow(s);
   for (uint32_t n = 0; n < s->function->statement_count; n++) {
      s->may[n] = s->may[n] && s->is_open[s->function->operands[s->function->statements[n].operand].index];
      any |= s->may[n];
   }
   return any;
}

/* What is tested --------------------------------------------------------------------------------------------------------- */

/* Finds counters: registers whose values are sums of sizes, numbers and counters. */
static void find_plain(struct search *s) {
   bool changed = true;
   memcpy(s->is_plain, s->is_open, s->function->register_count);
   while (changed) {
      changed = false;
      for (uint32_t n = 0; n < s->function->statement_count; n++) {
         const ptx_statement_t *statement = &s->function->statements[n];
         const ptx_operand_t *operands = &s->function->operands[statement->operand];
         const enum operation o = s->steps[n].operation;
         if (!s->may[n] || !s->is_plain[operands[0].index])
            continue;
         bool plain = statement->guard == PTX_NONE,
              fixed = true; /* fixed: it begins with a value that the text alone decides */
         for (uint32_t k = 1; k < statement->operand_count; k++)
            if (operands[k].kind == PTX_OPERAND_REGISTER) {
               fixed &= s->c->known[operands[k].index];
               plain &= s->c->known[operands[k].index] || s->is_plain[operands[k].index];
            }
         plain &=
            fixed || ((o == COPY || o == ADD || o == SUBTRACT) && !machine_condition_is_float(&s->steps[n]));
         s->is_plain[operands[0].index] = plain;
         changed |= !plain;
      }
   }
}

static void count_uses(struct search *s) {
   for (uint32_t n = 0; n < s->function->statement_count; n++) {
      const ptx_statement_t *statement = &s->function->statements[n];
      const ptx_operand_t *operands = &s->function->operands[statement->operand];
      if (statement->guard != PTX_NONE)
         s->uses[statement->guard]++;
      for (uint32_t k = 1; k < statement->operand_count; k++)
         if (operands[k].kind == PTX_OPERAND_REGISTER)
            s->uses[operands[k].index]++;
   }
}

static uint32_t guard_of(const struct search *s, uint32_t block) {
   return s->function->statements[s->paths->graph->blocks[block].end - 1].guard;
}

static bool leaves(const struct search *s, const struct text_loop *loop, uint32_t block) {
   const struct text_graph *g = s->paths->graph;
   bool out = false;
   for (uint32_t k = 0; k < g->blocks[block].successor_count; k++) {
      const uint32_t to = g->successors[g->blocks[block].successor + k];
      out |= to >= g->block_count || !loop->holds[to];
   }
   return out;
}

/* Returns the only block of the loop that leaves it by a branch that the launch decides; PTX_NONE: there are several such blocks, or none. */
static uint32_t end_of(const struct search *s, const struct text_loop *loop) {
   uint32_t found = PTX_NONE, count = 0;
   for (uint32_t b = 0; b < s->paths->graph->block_count; b++) {
      const uint32_t guard = loop->holds[b] ? guard_of(s, b) : PTX_NONE;
      if (guard == PTX_NONE || !is_known(s, guard) || !leaves(s, loop, b))
         continue;
      found = b;
      count++;
   }
   return count == 1 ? found : PTX_NONE;
}

static bool is_plain_test(const struct search *s, uint32_t n) {
   const struct text_graph *g = s->paths->graph;
   const ptx_statement_t *statement = &s->function->statements[n];
   const ptx_operand_t *operands = &s->function->operands[statement->operand];
   const uint32_t loop = g->blocks[g->block_of[n]].loop;
   bool plain = loop != PTX_NONE && s->writers[operands[0].index] == 1;
   for (uint32_t k = 1; k < statement->operand_count && plain; k++)
      plain = operands[k].kind != PTX_OPERAND_REGISTER || s->c->known[operands[k].index] ||
              s->is_plain[operands[k].index];
   if (!plain || s->steps[n].operation != COMPARE)
      return plain;
   const uint32_t end = end_of(s, &g->loops[loop]);
   return end != PTX_NONE && guard_of(s, end) == operands[0].index && s->uses[operands[0].index] == 1;
}

static bool find_tested(struct search *s) {
   struct condition_paths *p = s->paths;
   p->tested = calloc(s->function->statement_count + 1, sizeof *p->tested);
   find_plain(s);
   count_uses(s);
   for (uint32_t n = 0; n < s->function->statement_count && p->tested; n++) {
      const enum operation o = s->steps[n].operation;
      if (s->may[n] && (o == COMPARE || o == LEAST || o == MOST) && !is_plain_test(s, n)) {
         p->tested[p->tested_count++] = (struct tested){.number = n};
         s->needed[n] = true;
      }
   }
   return p->tested_count > 0;
}

/* The slice -------------------------------------------------------------------------------------------------------------- */

static bool want(struct search *s, uint32_t index) {
   const bool more = s->is_open[index] && !s->wanted[index];
   s->wanted[index] |= s->is_open[index];
   return more;
}

/* Statements that give wanted registers values, and what they need. */
static bool need_writers(struct search *s) {
   bool any = false, more = true;
   while (more) {
      more = false;
      for (uint32_t n = 0; n < s->function->statement_count; n++) {
         const ptx_statement_t *statement = &s->function->statements[n];
         const ptx_operand_t *operands = &s->function->operands[statement->operand];
         if (!s->may[n] || !(s->needed[n] || s->wanted[operands[0].index]))
            continue;
         any |= !s->needed[n];
         s->needed[n] = true;
         more |= want(s, operands[0].index);
         if (statement->guard != PTX_NONE)
            more |= want(s, statement->guard);
         for (uint32_t k = 1; k < statement->operand_count; k++)
            if (operands[k].kind == PTX_OPERAND_REGISTER)
               more |= want(s, operands[k].index);
      }
   }
   return any;
}

static bool has_part(const struct search *s, uint32_t block) {
   const struct text_block *b = &s->paths->graph->blocks[block];
   bool has = s->paths->parts[block].decides;
   for (uint32_t n = b->first; n < b->end && !has; n++)
      has = s->needed[n];
   return has;
}

/* Branches that decide whether something needed is executed: between them and where their ways meet. */
static bool need_branches(struct search *s) {
   const struct text_graph *g = s->paths->graph;
   bool any = false;
   for (uint32_t b = 0; b < g->block_count; b++) {
      struct part *part = &s->paths->parts[b];
      for (uint32_t k = 0;
           k < g->blocks[b].successor_count && g->blocks[b].successor_count > 1 && !part->decides; k++)
         for (uint32_t at = g->successors[g->blocks[b].successor + k];
              at != g->blocks[b].meets && at < g->block_count && !part->decides; at = g->blocks[at].meets)
            part->decides = has_part(s, at);
      if (!part->decides || part->guard != PTX_NONE)
         continue;
      const ptx_statement_t *last = &s->function->statements[g->blocks[b].end - 1];
      if (last->guard == PTX_NONE || !is_known(s, last->guard))
         continue;
      part->guard = last->guard;
      part->negated = last->guard_negated;
      (void)want(s, last->guard);
      any = true;
   }
   return any;
}

/* Finds from which blocks a way may come to a condition that is asked for.  wanted NULL: to any. */
static void find_leads(struct condition_paths *p, const uint8_t *wanted) {
   const struct text_graph *g = p->graph;
   bool more = true;
   memset(p->leads, 0, g->block_count);
   for (uint32_t n = 0; n < p->tested_count; n++)
      p->leads[g->block_of[p->tested[n].number]] |= !wanted || wanted[p->tested[n].number];
   while (more) {
      more = false;
      for (uint32_t b = g->block_count; b-- > 0;) { /* most branches lead on in the text */
         bool leads = p->leads[b];
         for (uint32_t k = 0; k < g->blocks[b].successor_count && !leads; k++) {
            const uint32_t to = g->successors[g->blocks[b].successor + k];
            leads = to < g->block_count && p->leads[to];
         }
         more |= leads != p->leads[b];
         p->leads[b] = leads;
      }
   }
}

static bool close_slice(struct search *s) {
   struct condition_paths *p = s->paths;
   const struct text_graph *g = p->graph;
   uint32_t count = 0, tested = 0;
   bool more = true;
   for (uint32_t b = 0; b < g->block_count; b++)
      p->parts[b].guard = PTX_NONE;
   while (more) {
      more = need_writers(s);
      more |= need_branches(s);
   }
   p->which = calloc(s->function->statement_count + 1, sizeof *p->which);
   p->registers = calloc(s->function->register_count + 1, sizeof *p->registers);
   p->leads = calloc(g->block_count + 1, sizeof *p->leads);
   if (!p->which || !p->registers || !p->leads)
      return false;
   find_leads(p, NULL);
   for (uint32_t b = 0; b < g->block_count; b++) {
      p->parts[b].first = count;
      for (uint32_t n = g->blocks[b].first; n < g->blocks[b].end; n++) {
         if (!s->needed[n])
            continue;
         if (tested < p->tested_count && p->tested[tested].number == n)
            p->which[count] = ++tested;
         s->steps[count++] = s->steps[n];
      }
      p->parts[b].count = count - p->parts[b].first;
   }
   for (uint32_t r = 0; r < s->function->register_count; r++)
      if (s->wanted[r])
         p->registers[p->register_count++] = r;
   p->values = calloc((size_t)MOST_WAYS * p->register_count + 1, sizeof *p->values);
   p->known = calloc((size_t)MOST_WAYS * p->register_count + 1, sizeof *p->known);
   for (uint32_t n = 0; n < MOST_WAYS && p->values && p->known; n++)
      p->ways[n] = (struct way){.values = p->values + (size_t)n * p->register_count,
                                .known = p->known + (size_t)n * p->register_count};
   p->step_count = count;
   p->lone = machine_condition_lone(s->c, s->steps, count);
   p->plain = machine_plain_steps_new(s->c, s->steps, count);
   return p->values && p->known && p->plain;
}

struct condition_paths *machine_paths_new(rkb_machine_conditions_t *c, const uint32_t *writers) {
   const size_t statements = c->function->statement_count + 1, registers = c->function->register_count + 1;
   struct search s = {.c = c, .function = c->function, .writers = writers};
   struct condition_paths *p = s.paths = calloc(1, sizeof *p);
   bool *flags = calloc(2 * statements + 3 * registers, sizeof *flags), done = false;
   s.steps = calloc(statements, sizeof *s.steps);
   s.uses = calloc(registers, sizeof *s.uses);
   if (p && flags && s.steps && s.uses) {
      s.may = flags;
      s.needed = flags + statements;
      s.is_open = s.needed + statements;
      s.is_plain = s.is_open + registers;
      s.wanted = s.is_plain + registers;
      p->steps = s.steps;
      done = find_open(&s) && (p->graph = machine_text_graph_new(c->function)) != NULL &&
             (p->parts = calloc(p->graph->block_count + 1, sizeof *p->parts)) != NULL && find_tested(&s) &&
             close_slice(&s);
   }
   free(flags);
   free(s.uses);
   if (done)
      return p;
   if (!p)
      free(s.steps);
   machine_paths_free(p);
   return NULL;
}

void machine_paths_free(struct condition_paths *p) {
   if (!p)
      return;
   machine_text_graph_free(p->graph);
   machine_lone_free(p->lone);
   free(p->steps);
   free(p->plain);
   free(p->parts);
   free(p->leads);
   free(p->tested);
   free(p->which);
   free(p->registers);
   free(p->values);
   free(p->known);
   free(p);
}

bool machine_paths_test(const struct condition_paths *p, uint32_t number) {
   bool tests = false;
   for (uint32_t n = 0; n < p->tested_count && !tests; n++)
      tests = p->tested[n].number == number;
   return tests;
}

bool machine_paths_need(struct condition_paths *p, const ptx_function_t *function, const uint8_t *wanted,
                        bool *needed) {
   bool any = false;
   find_leads(p, wanted);
   for (uint32_t n = 0; n < p->tested_count; n++)
      any |= wanted[p->tested[n].number] != 0;
   for (uint32_t n = 0; n < p->step_count && any; n++) {
      const ptx_statement_t *statement = p->steps[n].statement;
      const ptx_operand_t *operands = &function->operands[statement->operand];
      if (statement->guard != PTX_NONE)
         needed[statement->guard] = true;
      for (uint32_t k = 1; k < statement->operand_count; k++)
         if (operands[k].kind == PTX_OPERAND_REGISTER)
            needed[operands[k].index] = true;
   }
   for (uint32_t b = 0; b < p->graph->block_count && any; b++)
      if (p->parts[b].guard != PTX_NONE)
         needed[p->parts[b].guard] = true;
   return any;
}
