/* Follows the ways through a kernel's text, to conditions of registers that several statements give a value (condition_paths.h).
 *
 * Such registers have a value on each way.  A way is followed from the kernel's beginning.  If the launch decides a branch, that decision
 * is followed; at any other branch both ways are followed once.  Only the values that the conditions need are computed; a branch that they do not
 * need is skipped, up to where its ways meet.  A way ends where no condition lies ahead that is asked for.  On the thread of the conditions. */
#include "machine/decode/condition_paths.h"
#include "machine/decode/fast_condition_steps.h"

#include <math.h>

#define MOST_TURNS (UINT32_C(1) << 15) /* blocks and statements in one launch */

static void note(struct condition_paths *p, uint32_t which, bool outcome, double distance) {
   struct tested *t = &p->tested[which];
   if (!(t->met >> outcome & 1) || fabs(distance) < fabs(t->nearest[outcome]))
      t->nearest[outcome] = distance;
   t->met |= (uint8_t)(1u << outcome);
}

/* Takes the steps of a block.  A step under an unknown guard leaves an unknown value. */
static void take_part(rkb_machine_conditions_t *c, const rkb_plan_launch_t *launch, const struct part *part) {
   struct condition_paths *p = c->paths;
   for (uint32_t n = part->first; n < part->first + part->count; n++) {
      const struct step *step = &p->steps[n];
      const uint32_t guard = step->statement->guard;
      struct plain_result plain;
      struct range result;
      if (guard != PTX_NONE && !c->known[guard]) {
         c->known[c->function->operands[step->statement->operand].index] = false;
         continue;
      }
      if (guard != PTX_NONE && (c->values[guard].low & 1) == step->statement->guard_negated)
         continue;
      if (machine_plain_step(c, p->plain, n, &plain)) {
         if (plain.known && p->which[n])
            note(p, p->which[n] - 1, plain.outcome, plain.distance);
         continue;
      }
      /* The sides may be the result's register. */
      const double distance = p->which[n] ? machine_condition_distance(c, step, launch) : 0;
      const bool first =
         p->which[n] && step->operation != COMPARE && machine_condition_is_first(c, step, launch);
      if (machine_condition_step(c, step, launch, &result) && p->which[n])
         note(p, p->which[n] - 1, step->operation == COMPARE ? result.low & 1 : first, distance);
   }
}

static void keep_way(rkb_machine_conditions_t *c, uint32_t block) {
   struct condition_paths *p = c->paths;
   if (p->way_count == MOST_WAYS)
      return;
   struct way *way = &p->ways[p->way_count++];
   way->block = block;
   for (uint32_t n = 0; n < p->register_count; n++) {
      way->values[n] = c->values[p->registers[n]];
      way->known[n] = c->known[p->registers[n]];
   }
}

static uint32_t take_way(rkb_machine_conditions_t *c) {
   struct condition_paths *p = c->paths;
   const struct way *way = &p->ways[--p->way_count];
   for (uint32_t n = 0; n < p->register_count; n++) {
      c->values[p->registers[n]] = way->values[n];
      c->known[p->registers[n]] = way->known[n];
   }
   return way->block;
}

/* Where to go after a block.  Both ways of an unknown branch are followed once; the way that is not followed now is kept for later. */
static uint32_t next_block(rkb_machine_conditions_t *c, uint32_t at) {
   struct condition_paths *p = c->paths;
   struct part *part = &p->parts[at];
   const struct text_block *block = &p->graph->blocks[at];
   const uint32_t *to = &p->graph->successors[block->successor];
   if (block->successor_count == 1)
      return to[0];
   if (!part->decides || block->successor_count == 0)
      return block->meets;
   if (block->successor_count == 2 && part->guard != PTX_NONE && c->known[part->guard])
      return to[(c->values[part->guard].low & 1) != part->negated]; /* the next block comes first */
   uint32_t next = block->meets;
   for (uint32_t k = 0; k < block->successor_count; k++) {
      const uint32_t way = k ? 1 : 0;
      if (part->gone[way])
         continue;
      if (next == block->meets)
         next = to[k];
      else if (to[k] < p->graph->block_count && p->leads[to[k]])
         keep_way(c, to[k]);
   }
   part->gone[0] = part->gone[1] = true;
   return next;
}

void machine_paths_follow(rkb_machine_conditions_t *c, const rkb_plan_launch_t *launch,
                          void (*visit)(void *argument, uint32_t number, bool outcome, double distance),
                          void *argument) {
   struct condition_paths *p = c->paths;
   const uint64_t most = *c->turns < MOST_TURNS ? *c->turns : MOST_TURNS;
   uint64_t left = most, copied = 0; /* copied: registers of ways that were kept */
   for (uint32_t b = 0; b < p->graph->block_count; b++)
      p->parts[b].gone[0] = p->parts[b].gone[1] = false;
   for (uint32_t n = 0; n < p->tested_count; n++)
      p->tested[n].met = 0;
   for (uint32_t n = 0; n < p->register_count; n++)
      c->known[p->registers[n]] = false;
   p->way_count = 0;
   keep_way(c, 0);
   while (p->way_count && left) {
      copied += p->register_count;
      for (uint32_t at = take_way(c); at < p->graph->block_count && p->leads[at] && left;
           at = next_block(c, at)) {
         const uint64_t cost = 1 + p->parts[at].count;
         left -= cost < left ? cost : left;
         take_part(c, launch, &p->parts[at]);
      }
   }
   const uint64_t cost = most - left + copied;
   *c->turns -= cost < *c->turns ? cost : *c->turns;
   for (uint32_t n = 0; n < p->tested_count; n++)
      for (uint32_t outcome = 0; outcome < 2; outcome++)
         if (p->tested[n].met >> outcome & 1)
            visit(argument, p->tested[n].number, outcome, p->tested[n].nearest[outcome]);
}
