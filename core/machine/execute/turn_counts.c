/* Counts turns of loops (loop_turns.h).  The ranks of a loop's basic blocks go from the rank of its first block to the rank of the last block that
 * leads back to it (decode/control_flow.c).  On the machine's thread. */
#include "machine/state/loop_turns.h"

#include "machine/state/execution.h"

#include <stdlib.h>
#include <string.h>

struct loops_of_launch {
   rkb_machine_loop_t *list;
   uint32_t *number; /* by basic block: the number of the loop that begins there, plus one; 0: no loop does */
   uint32_t count;
};

struct machine_loops {
   struct loops_of_launch *launches;
   struct loops_of_launch *at; /* of the launch that runs; NULL: they are not counted */
   uint32_t *turns;            /* of the launch that runs, by warp and loop */
};

/* How the instructions of a basic block synchronise. */
enum { SYNCHRONISES = 1, GOES_AHEAD = 2 };

static uint32_t synchronisation_of(const machine_program_t *program, const machine_block_info_t *block) {
   static const struct {
      const char *word;
      uint32_t what;
   } words[] = {{"bar.", SYNCHRONISES},
                {"barrier.", SYNCHRONISES},
                {"bar.arrive", GOES_AHEAD},
                {"bar.cta.arrive", GOES_AHEAD},
                {"barrier.arrive", GOES_AHEAD},
                {"barrier.cta.arrive", GOES_AHEAD},
                {"barrier.cluster.arrive", GOES_AHEAD},
                {"mbarrier.arrive", GOES_AHEAD},
                {"mbarrier.expect_tx", GOES_AHEAD},
                {"cp.async", GOES_AHEAD},
                {"cp.reduce", GOES_AHEAD},
                {"st.async", GOES_AHEAD},
                {"wgmma.mma_async", GOES_AHEAD}};
   uint32_t what = 0;
   for (uint32_t n = block->first; n < block->first + block->count; n++) {
      const machine_instruction_t *i = &program->code[n];
      const char *opcode = program->module->functions[i->function].statements[i->statement].opcode;
      for (size_t k = 0; k < sizeof words / sizeof *words; k++)
         if (opcode[0] == words[k].word[0] &&
             opcode[1] == words[k].word[1] && /* few opcodes begin like one of these words */
             strncmp(opcode, words[k].word, strlen(words[k].word)) == 0)
            what |= words[k].what | SYNCHRONISES;
   }
   return what;
}

/* By rank: how many basic blocks of lower rank synchronise in the way `what`. */
static void count_blocks(const machine_program_t *program, uint32_t what, uint32_t *before) {
   memset(before, 0, (program->block_count + 1) * sizeof *before);
   for (uint32_t b = 0; b < program->block_count; b++)
      before[program->blocks[b].rank + 1] = (synchronisation_of(program, &program->blocks[b]) & what) != 0;
   for (uint32_t rank = 0; rank < program->block_count; rank++)
      before[rank + 1] += before[rank];
}

/* By basic block: the rank of the last block that leads back to it, plus one; 0: no block does. */
static void find_ends(const machine_program_t *program, uint32_t *ends) {
   for (uint32_t b = 0; b < program->block_count; b++) {
      const uint32_t rank = program->blocks[b].rank;
      uint32_t to;
      for (uint32_t k = 0; (to = machine_successor(program, b, k)) != PTX_NONE; k++)
         if (program->blocks[to].rank <= rank && ends[to] <= rank)
            ends[to] = rank + 1;
   }
}

/* Keeps only the loops that synchronise and contain no other such loop. */
static void keep_inner(const machine_program_t *program, const uint32_t *before, uint32_t *ends) {
   const machine_block_info_t *blocks = program->blocks;
   for (uint32_t b = 0; b < program->block_count; b++)
      if (ends[b] && before[ends[b]] == before[blocks[b].rank])
         ends[b] = 0;
   for (uint32_t b = 0; b < program->block_count; b++)
      for (uint32_t other = 0; ends[b] && other < program->block_count; other++)
         if (other != b && ends[other] && blocks[other].rank > blocks[b].rank && ends[other] <= ends[b])
            ends[b] = 0;
}

static bool find_loops(const machine_program_t *program, struct loops_of_launch *loops) {
   const size_t count = program->block_count;
   uint32_t *before = calloc(2 * count + 2, sizeof *before), *ends = before ? before + count + 1 : NULL;
   loops->number = calloc(count + 1, sizeof *loops->number);
   loops->list = calloc(count + 1, sizeof *loops->list);
   const bool made = before && loops->number && loops->list;
   if (made) {
      count_blocks(program, SYNCHRONISES, before);
      find_ends(program, ends);
      keep_inner(program, before, ends);
      count_blocks(program, GOES_AHEAD, before);
   }
   for (uint32_t b = 0; made && b < count; b++)
      if (ends[b]) {
         loops->list[loops->count] =
            (rkb_machine_loop_t){.block = b, .ahead = before[ends[b]] > before[program->blocks[b].rank]};
         loops->number[b] = ++loops->count;
      }
   free(before);
   return made;
}

void machine_loops_begin(machine_launch_t *launch) {
   machine_run_t *run = launch->run;
   if (!run->options.loops)
      return;
   if (!run->loops && (run->loops = calloc(1, sizeof *run->loops)))
      run->loops->launches = calloc(run->plan->launch_count + 1, sizeof *run->loops->launches);
   struct machine_loops *l = run->loops;
   bool made = l && l->launches;
   if (made) {
      struct loops_of_launch *loops = &l->launches[launch->number];
      made = loops->number || find_loops(launch->program, loops);
      l->at = NULL;
      free(l->turns);
      l->turns = NULL;
      if (made && loops->count && run->races) {
         l->at = loops;
         l->turns = calloc((size_t)run->block.warp_count * loops->count, sizeof *l->turns);
         made = l->turns != NULL;
      }
   }
   if (!made)
      run->out_of_memory = run->stop = true;
   run->counts_loops = made && l->at;
}

void machine_loops_free(machine_run_t *run) {
   struct machine_loops *l = run->loops;
   if (!l)
      return;
   for (uint32_t n = 0; l->launches && n < run->plan->launch_count; n++) {
      free(l->launches[n].list);
      free(l->launches[n].number);
   }
   free(l->launches);
   free(l->turns);
   free(l);
}

void machine_loops_enter(const machine_warp_t *warp, uint32_t block, uint32_t from) {
   struct machine_loops *l = warp->run->loops;
   const machine_block_info_t *blocks = warp->program->blocks;
   const uint32_t number = l->at->number[block];
   if (!number)
      return;
   uint32_t *turns = &l->turns[(size_t)warp->number * l->at->count + number - 1],
            *most = &l->at->list[number - 1].turns;
   *turns = blocks[from].rank >= blocks[block].rank ? *turns + 1 : 1;
   *most = *turns > *most ? *turns : *most;
}

const rkb_machine_loop_t *rkb_machine_loops(const rkb_machine_t *machine, uint32_t launch, uint32_t *count) {
   const machine_run_t *run = &machine->run;
   const bool has = run->loops && launch < run->plan->launch_count && run->loops->launches[launch].count;
   *count = has ? run->loops->launches[launch].count : 0;
   return has ? run->loops->launches[launch].list : NULL;
}
