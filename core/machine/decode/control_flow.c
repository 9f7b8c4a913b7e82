/* Basic blocks of a program and their rank.  Lanes that have diverged are executed lowest rank first and merge where they meet.  So a block's rank
 * must be higher than the ranks of all blocks from which it can be reached without going round a loop, and the blocks that follow a loop must rank
 * after the whole loop.  Then lanes meet again no later than at the immediate post-dominator of the branch that parted them ('thread frontiers',
 * Diamos et al., MICRO 2011).  The order is a reverse post-order in which successors that leave more loops are visited first; loops are found by
 * dominators (Cooper, Harvey, Kennedy: 'A Simple, Fast Dominance Algorithm').
 *
 * Lanes that go round a loop come to its header, which ranks lowest in it.  If lanes take part together in an instruction of the loop, they would come to
 * it before lanes that are still in an inner loop of the turn before.  So such a header has the rank behind which they wait (round). */
#include "machine/decode/decoded_program.h"

#include <stdlib.h>
#include <string.h>

typedef struct graph {
   machine_program_t *program;
   uint32_t **successors;
   uint32_t *successor_count;
   uint32_t *predecessors, *first_predecessor; /* of all blocks one after the other; where a block's begin */
   uint32_t *order, *position;                 /* the post-order, and its inverse */
   uint32_t order_count;
   uint32_t *dominator;
   uint32_t *depth; /* how many loops are around a block */
   uint32_t *stack, *next;
} graph_t;

static bool ends_block(const machine_instruction_t *i) {
   return i->kind >= MACHINE_BRANCH && i->kind <= MACHINE_WAIT;
}

static void mark_starts(graph_t *graph) {
   machine_program_t *program = graph->program;
   for (uint32_t n = 0; n < program->count; n++) {
      machine_instruction_t *i = &program->code[n];
      if (n == 0 || (n && ends_block(&program->code[n - 1])) ||
          (n && program->code[n - 1].function != i->function))
         i->block_start = true;
      if (i->kind == MACHINE_BRANCH || i->kind == MACHINE_CALL)
         program->code[i->target].block_start = true;
      for (uint32_t k = 0; i->kind == MACHINE_BRANCH_INDEX && k < i->extra_count; k++)
         program->code[program->branch_targets[i->target + k]].block_start = true;
   }
}

static bool make_blocks(graph_t *graph) {
   machine_program_t *program = graph->program;
   uint32_t count = 0;
   for (uint32_t n = 0; n < program->count; n++)
      count += program->code[n].block_start;
   program->blocks = calloc(count + 1, sizeof *program->blocks);
   if (!program->blocks)
      return false;
   program->block_count = count;
   uint32_t block = PTX_NONE;
   for (uint32_t n = 0; n < program->count; n++) {
      machine_instruction_t *i = &program->code[n];
      if (i->block_start)
         program->blocks[++block].first = n;
      program->blocks[block].count++;
      program->blocks[block].class_count[i->class]++;
      program->blocks[block].burden += i->burden;
      i->block = block;
   }
   return true;
}

static bool falls_through(const machine_instruction_t *i) {
   return (i->kind != MACHINE_BRANCH && i->kind != MACHINE_BRANCH_INDEX && i->kind != MACHINE_RETURN &&
           i->kind != MACHINE_EXIT && i->kind != MACHINE_TRAP) ||
          i->guard;
}

/* A call goes on to the next block; the callee's blocks are a graph of their own. */
uint32_t machine_successor(const machine_program_t *program, uint32_t block, uint32_t k) {
   const uint32_t last = program->blocks[block].first + program->blocks[block].count - 1;
   const machine_instruction_t *i = &program->code[last];
   if (falls_through(i) && last + 1 < program->count && program->code[last + 1].function == i->function) {
      if (k == 0)
         return program->code[last + 1].block;
      k--;
   }
   if (i->kind == MACHINE_BRANCH && k == 0)
      return program->code[i->target].block;
   if (i->kind == MACHINE_BRANCH_INDEX && k < i->extra_count)
      return program->code[program->branch_targets[i->target + k]].block;
   return PTX_NONE;
}

static bool connect(graph_t *graph) {
   const machine_program_t *program = graph->program;
   graph->successors = calloc(program->block_count + 1, sizeof *graph->successors);
   graph->successor_count = calloc(program->block_count + 1, sizeof *graph->successor_count);
   if (!graph->successors || !graph->successor_count)
      return false;
   for (uint32_t b = 0; b < program->block_count; b++) {
      uint32_t count = 0;
      while (machine_successor(program, b, count) != PTX_NONE)
         count++;
      uint32_t *list = graph->successors[b] = calloc(count + 1, sizeof *list);
      if (!list)
         return false;
      graph->successor_count[b] = count;
      while (count--)
         list[count] = machine_successor(program, b, count);
   }
   return true;
}

static void mark_passing(machine_program_t *program) {
   for (uint32_t b = 0; b < program->block_count; b++) {
      machine_block_info_t *info = &program->blocks[b];
      info->passing = true;
      for (uint32_t n = info->first; n < info->first + info->count; n++) {
         const machine_instruction_t *i = &program->code[n];
         info->passing &= !i->guard && (i->kind == MACHINE_BRANCH || i->kind == MACHINE_RETURN ||
                                        i->kind == MACHINE_EXIT || i->kind == MACHINE_NOTHING);
      }
   }
}

/* Visits successors in order of loop depth, shallow first, so that what follows a loop ends up after it. */
static uint32_t pick_successor(const graph_t *graph, uint32_t block, const bool *seen) {
   uint32_t best = PTX_NONE;
   for (uint32_t k = 0; k < graph->successor_count[block]; k++) {
      uint32_t to = graph->successors[block][k];
      if (seen[to])
         continue;
      /* Of successors at equal depth, the one that is later in the text comes first, so that the result has the text's order. */
      if (best == PTX_NONE || graph->depth[to] < graph->depth[best] ||
          (graph->depth[to] == graph->depth[best] && to > best))
         best = to;
   }
   return best;
}

static bool post_order(graph_t *graph) {
   uint32_t count = graph->program->block_count, top = 0;
   bool *seen = calloc(count + 1, sizeof *seen);
   if (!seen)
      return false;
   graph->order_count = 0;
   for (uint32_t root = 0; root < count; root++) {
      if (seen[root])
         continue;
      seen[root] = true;
      graph->stack[top++] = root;
      while (top) {
         uint32_t block = graph->stack[top - 1], to = pick_successor(graph, block, seen);
         if (to == PTX_NONE) {
            graph->position[block] = graph->order_count;
            graph->order[graph->order_count++] = block;
            top--;
         } else {
            seen[to] = true;
            graph->stack[top++] = to;
         }
      }
   }
   free(seen);
   return true;
}

/* Both blocks can be reached from the same entry, and their dominators are known. */
static uint32_t common_dominator(const graph_t *graph, uint32_t a, uint32_t b) {
   while (a != b) {
      while (graph->position[a] < graph->position[b])
         a = graph->dominator[a];
      while (graph->position[b] < graph->position[a])
         b = graph->dominator[b];
   }
   return a;
}

static bool is_entry(const graph_t *graph, uint32_t block) {
   const machine_program_t *program = graph->program;
   const uint32_t first = program->blocks[block].first;
   return first == 0 || program->code[first - 1].function != program->code[first].function;
}

/* PTX_NONE for blocks that cannot be reached from their function's entry: what leads out of them dominates
 * nothing. */
static void find_dominators(graph_t *graph) {
   uint32_t count = graph->program->block_count;
   for (uint32_t b = 0; b < count; b++)
      graph->dominator[b] = is_entry(graph, b) ? b : PTX_NONE;
   bool changed = true;
   for (uint32_t round = 0; changed && round < 64; round++) {
      changed = false;
      for (uint32_t n = count; n-- > 0;) {
         uint32_t block = graph->order[n];
         for (uint32_t k = 0; graph->dominator[block] != PTX_NONE && k < graph->successor_count[block]; k++) {
            uint32_t to = graph->successors[block][k], before = graph->dominator[to];
            if (graph->position[to] >= graph->position[block])
               continue; /* a back edge does not count before its source has a dominator */
            graph->dominator[to] = before == PTX_NONE ? block : common_dominator(graph, before, block);
            changed |= graph->dominator[to] != before;
         }
      }
   }
}

static bool dominates(const graph_t *graph, uint32_t above, uint32_t below) {
   for (uint32_t steps = 0; steps <= graph->program->block_count; steps++) {
      if (below == above)
         return true;
      if (graph->dominator[below] == below || graph->dominator[below] == PTX_NONE)
         return false;
      below = graph->dominator[below];
   }
   return false;
}

static bool list_predecessors(graph_t *graph) {
   const uint32_t count = graph->program->block_count;
   uint32_t total = 0;
   for (uint32_t b = 0; b < count; b++)
      total += graph->successor_count[b];
   graph->first_predecessor = calloc(count + 2, sizeof *graph->first_predecessor);
   graph->predecessors = calloc(total + 1, sizeof *graph->predecessors);
   if (!graph->first_predecessor || !graph->predecessors)
      return false;
   /* Counts are kept two places on, and their sums one place on.  Filling a block's list moves its start to
    * its end, where the next one's begins. */
   uint32_t *first = graph->first_predecessor;
   for (uint32_t b = 0; b < count; b++)
      for (uint32_t k = 0; k < graph->successor_count[b]; k++)
         first[graph->successors[b][k] + 2]++;
   for (uint32_t b = 2; b <= count; b++)
      first[b] += first[b - 1];
   for (uint32_t b = 0; b < count; b++)
      for (uint32_t k = 0; k < graph->successor_count[b]; k++)
         graph->predecessors[first[graph->successors[b][k] + 1]++] = b;
   return true;
}

/* Adds one to the depth of every block of the natural loop of a back edge: all that reach its source without the header. */
static bool deepen_loop(graph_t *graph, uint32_t source, uint32_t header) {
   uint32_t count = graph->program->block_count, top = 0;
   bool *inside = calloc(count + 1, sizeof *inside);
   if (!inside)
      return false;
   inside[header] = true;
   graph->depth[header]++;
   if (!inside[source]) {
      inside[source] = true;
      graph->depth[source]++;
      graph->stack[top++] = source;
   }
   while (top) {
      uint32_t block = graph->stack[--top];
      for (uint32_t k = graph->first_predecessor[block]; k < graph->first_predecessor[block + 1]; k++) {
         const uint32_t b = graph->predecessors[k];
         if (!inside[b]) {
            inside[b] = true;
            graph->depth[b]++;
            graph->stack[top++] = b;
         }
      }
   }
   free(inside);
   return true;
}

/* Kernels with more blocks keep the text's order in their loops, since finding loops here takes quadratic
 * time. */
#define MOST_BLOCKS_FOR_LOOPS 3000

static bool find_loops(graph_t *graph) {
   uint32_t count = graph->program->block_count;
   if (count > MOST_BLOCKS_FOR_LOOPS)
      return true;
   if (!list_predecessors(graph))
      return false;
   find_dominators(graph);
   for (uint32_t b = 0; b < count; b++)
      for (uint32_t k = 0; k < graph->successor_count[b]; k++)
         if (dominates(graph, graph->successors[b][k], b) && !deepen_loop(graph, b, graph->successors[b][k]))
            return false;
   return true;
}

/* By rank: how many blocks of lower rank have an instruction in which lanes take part together.  The caller frees it; NULL: no memory. */
static uint32_t *count_together(const machine_program_t *program) {
   const uint32_t count = program->block_count;
   uint32_t *below = calloc((size_t)count + 1, sizeof *below);
   for (uint32_t b = 0; below && b < count; b++)
      below[program->blocks[b].rank + 1] = program->blocks[b].class_count[RKB_CLASS_SHUFFLE] +
                                              program->blocks[b].class_count[RKB_CLASS_TENSOR] >
                                           0;
   for (uint32_t rank = 0; below && rank < count; rank++)
      below[rank + 1] += below[rank];
   return below;
}

/* The blocks of a loop have the ranks from its header's to that of the last block from which lanes go round. */
static bool mark_rounds(const graph_t *graph) {
   const uint32_t count = graph->program->block_count;
   machine_block_info_t *blocks = graph->program->blocks;
   if (count > MOST_BLOCKS_FOR_LOOPS)
      return true;
   uint32_t *below = count_together(graph->program);
   for (uint32_t b = 0; below && b < count; b++)
      for (uint32_t k = 0; k < graph->successor_count[b]; k++) {
         machine_block_info_t *header = &blocks[graph->successors[b][k]];
         if (header->rank <= blocks[b].rank && below[blocks[b].rank + 1] > below[header->rank] &&
             blocks[b].rank >= header->round && dominates(graph, graph->successors[b][k], b))
            header->round = blocks[b].rank + 1;
      }
   free(below);
   return below != NULL;
}

bool machine_control_flow(machine_program_t *program) {
   graph_t graph = {.program = program};
   bool done = false;
   mark_starts(&graph);
   if (make_blocks(&graph) && connect(&graph)) {
      mark_passing(program);
      uint32_t count = program->block_count;
      uint32_t *memory = calloc((size_t)count * 5 + 5, sizeof *memory);
      if (memory) {
         graph.order = memory;
         graph.position = memory + count;
         graph.dominator = memory + 2 * count;
         graph.depth = memory + 3 * count;
         graph.stack = memory + 4 * count;
         done = post_order(&graph) && find_loops(&graph) && post_order(&graph);
         for (uint32_t b = 0; done && b < count; b++)
            program->blocks[b].rank = count - 1 - graph.position[b];
         for (uint32_t n = 0; done && n < program->count; n++)
            program->code[n].rank = program->blocks[program->code[n].block].rank;
         done = done && mark_rounds(&graph);
         free(memory);
      }
   }
   for (uint32_t b = 0; graph.successors && b < program->block_count; b++)
      free(graph.successors[b]);
   free(graph.successors);
   free(graph.predecessors);
   free(graph.first_predecessor);
   free(graph.successor_count);
   return done;
}
