/* Notes what blocks decide (decisions.h).  It notes the outcomes of comparisons and of operations that join them.  It notes whether quotients,
 * shifts, minima and maxima are 0, because `1 - (turn >> 5)` decides too.  It notes how many turns loops make.  Lanes whose value is undefined are
 * left out.  On the machine's thread. */
#include "machine/state/decisions.h"

#include "machine/state/execution.h"

#include <stdlib.h>
#include <string.h>

#define NOTED_CONDITION 0x40u
#define NOTED_NUMBER 0x80u

struct machine_decisions {
   rkb_machine_decisions_t *launches;
   rkb_machine_decisions_t *at; /* the decisions of the launch that runs */
   uint32_t *turns;             /* of the launch that runs: turns by warp and basic block */
};

/* Integers only: the rounding of a float does not tell one step of a loop from another. */
static bool is_telling_number(const machine_program_t *program, const machine_instruction_t *i) {
   static const char *const words[] = {"shr.", "div.", "min.", "max.", "mul.hi."};
   const ptx_statement_t *statement = &program->module->functions[i->function].statements[i->statement];
   bool telling = false;
   for (uint32_t n = 0; n < sizeof words / sizeof *words; n++)
      telling |= strncmp(statement->opcode, words[n], strlen(words[n])) == 0;
   return telling && !ptx_type_is_float(i->type) && i->type != PTX_PRED;
}

static uint32_t way_of_noting(const machine_program_t *program, const machine_instruction_t *i) {
   if (i->kind != MACHINE_VALUE || i->di <= 1)
      return 0;
   const machine_register_info_t *to = &program->registers[i->di];
   return to->type == PTX_PRED                                                  ? NOTED_CONDITION
          : (to->bytes == 4 || to->bytes == 8) && is_telling_number(program, i) ? NOTED_NUMBER
                                                                                : 0;
}

static bool make(rkb_machine_decisions_t *d, const machine_program_t *program) {
   d->outcomes = calloc(program->count + 1, sizeof *d->outcomes);
   d->turns = calloc(program->count + 1, sizeof *d->turns);
   d->lines = calloc(program->count + 1, sizeof *d->lines);
   if (!d->outcomes || !d->turns || !d->lines)
      return false;
   d->count = program->count;
   for (uint32_t n = 0; n < program->count; n++) {
      d->outcomes[n] = (uint8_t)way_of_noting(program, &program->code[n]);
      d->lines[n] = machine_source_line(program, n);
   }
   return true;
}

static void drop(rkb_machine_decisions_t *d) {
   free(d->outcomes);
   free(d->turns);
   free(d->lines);
}

void machine_decisions_begin(machine_launch_t *launch) {
   machine_run_t *run = launch->run;
   if (!run->options.decisions)
      return;
   if (!run->decisions && (run->decisions = calloc(1, sizeof *run->decisions)))
      run->decisions->launches = calloc(run->plan->launch_count + 1, sizeof *run->decisions->launches);
   struct machine_decisions *d = run->decisions;
   bool made = d && d->launches;
   if (made) {
      d->at = &d->launches[launch->number];
      free(d->turns);
      d->turns = calloc((size_t)run->block.warp_count * launch->program->block_count + 1, sizeof *d->turns);
      made = d->turns && (d->at->count || make(d->at, launch->program));
   }
   if (!made)
      run->out_of_memory = run->stop = true;
}

void machine_decisions_free(machine_run_t *run) {
   struct machine_decisions *d = run->decisions;
   if (!d)
      return;
   for (uint32_t n = 0; d->launches && n < run->plan->launch_count; n++)
      drop(&d->launches[n]);
   free(d->launches);
   free(d->turns);
   free(d);
}

void machine_decisions_enter(const machine_warp_t *warp, uint32_t block, uint32_t from) {
   struct machine_decisions *d = warp->run->decisions;
   const machine_block_info_t *blocks = warp->program->blocks;
   uint32_t *turns = &d->turns[(size_t)warp->number * warp->program->block_count + block],
            *most = &d->at->turns[blocks[block].first];
   /* Block 0: the kernel begins, and the warp's place before does not count. */
   const bool back = block && blocks[from].rank >= blocks[block].rank;
   *turns = back ? *turns + 1 : 1;
   *most = *turns > *most ? *turns : *most;
}

void machine_decisions_note(const machine_warp_t *warp, uint32_t instruction, uint32_t mask) {
   const machine_instruction_t *i = &warp->program->code[instruction];
   uint8_t *outcomes = &warp->run->decisions->at->outcomes[instruction];
   uint32_t truth = 0;
   if (!(*outcomes & (NOTED_CONDITION | NOTED_NUMBER)) ||
       (*outcomes & RKB_MACHINE_OUTCOMES) == RKB_MACHINE_OUTCOMES)
      return;
   mask &= warp->defined[i->di];
   if (*outcomes & NOTED_CONDITION) {
      truth = *(const uint32_t *)(warp->registers + i->d);
   } else {
      const uint32_t bytes = warp->program->registers[i->di].bytes;
      for (uint32_t l = 0; l < LANES; l++)
         truth |= (uint32_t)(bytes == 4 ? ((const uint32_t *)(warp->registers + i->d))[l] != 0
                                        : ((const uint64_t *)(warp->registers + i->d))[l] != 0)
                  << l;
   }
   *outcomes |= (truth & mask ? RKB_MACHINE_TRUE : 0) | (~truth & mask ? RKB_MACHINE_FALSE : 0);
}

const rkb_machine_decisions_t *rkb_machine_decisions(const rkb_machine_t *machine, uint32_t launch) {
   const machine_run_t *run = &machine->run;
   if (!run->decisions || launch >= run->plan->launch_count || !run->decisions->launches[launch].count)
      return NULL;
   return &run->decisions->launches[launch];
}
