/* Finds the basic blocks of a function's text (condition_graph.h).  Where ways meet again are post-dominators, and loops are found by dominators, both as Cooper, Harvey and
 * Kennedy find them ('A Simple, Fast Dominance Algorithm').  No state. */
#include "machine/decode/condition_graph.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BLOCKS 32768u
#define MOST_HELD (UINT64_C(1) << 25) /* loops times blocks */

/* Edges as lists one after the other: those of node n begin at first[n]. */
struct edges {
   uint32_t *first, *to;
};

static bool begins(const char *opcode, const char *word) {
   const size_t length = strlen(word);
   return strncmp(opcode, word, length) == 0 && (opcode[length] == '.' || opcode[length] == '\0');
}

static bool ends_way(const ptx_statement_t *s) {
   return begins(s->opcode, "ret") || begins(s->opcode, "exit") || begins(s->opcode, "trap");
}

static bool ends_block(const ptx_statement_t *s) {
   return begins(s->opcode, "bra") || begins(s->opcode, "brx") || ends_way(s);
}

static uint32_t block_at(const struct text_graph *g, const ptx_function_t *function, uint32_t label) {
   const uint32_t statement = function->labels[label].statement;
   return statement < function->statement_count ? g->block_of[statement] : g->block_count;
}

static bool make_blocks(struct text_graph *g, const ptx_function_t *function) {
   const uint32_t count = function->statement_count;
   bool *starts = calloc(count + 1, sizeof *starts);
   g->block_of = calloc(count + 1, sizeof *g->block_of);
   if (!starts || !g->block_of) {
      free(starts);
      return false;
   }
   starts[0] = true;
   for (uint32_t n = 0; n < count; n++)
      if (ends_block(&function->statements[n]))
         starts[n + 1] = true;
   for (uint32_t n = 0; n < function->label_count; n++)
      if (function->labels[n].statement < count)
         starts[function->labels[n].statement] = true;
   for (uint32_t n = 0; n < count; n++) {
      g->block_count += starts[n];
      g->block_of[n] = g->block_count - 1;
   }
   g->blocks = calloc(g->block_count + 1, sizeof *g->blocks);
   for (uint32_t n = 0; n < count && g->blocks; n++) {
      struct text_block *block = &g->blocks[g->block_of[n]];
      if (starts[n])
         block->first = n;
      block->end = n + 1;
   }
   free(starts);
   return g->blocks && g->block_count && g->block_count <= MOST_BLOCKS;
}

/* Writes where a block leads, at most room blocks; returns how many. */
static uint32_t successors_of(const struct text_graph *g, const ptx_function_t *function, uint32_t b,
                              uint32_t *to, uint32_t room) {
   const ptx_statement_t *last = &function->statements[g->blocks[b].end - 1];
   const ptx_operand_t *operands = &function->operands[last->operand];
   uint32_t count = 0;
   if (!ends_block(last) || last->guard != PTX_NONE)
      to[count++] = b + 1;
   if (begins(last->opcode, "bra") && last->operand_count && operands[0].kind == PTX_OPERAND_LABEL)
      to[count++] = block_at(g, function, operands[0].index);
   else if (begins(last->opcode, "brx") && last->operand_count > 1 && operands[1].kind == PTX_OPERAND_LABEL) {
      const ptx_label_t *table = &function->labels[operands[1].index];
      for (uint32_t n = 0; n < table->target_count && count < room; n++)
         to[count++] = block_at(g, function, function->operands[table->target + n].index);
   } else if (ends_block(last))
      to[count++] = g->block_count;
   return count;
}

static bool connect(struct text_graph *g, const ptx_function_t *function) {
   uint32_t most = 2 * g->block_count + 2, used = 0;
   for (uint32_t n = 0; n < function->label_count; n++)
      most += function->labels[n].target_count;
   g->successors = calloc(2 * (size_t)most, sizeof *g->successors);
   for (uint32_t b = 0; b < g->block_count && g->successors; b++) {
      g->blocks[b].successor = used;
      g->blocks[b].successor_count =
         used + 2 < 2 * most ? successors_of(g, function, b, &g->successors[used], 2 * most - used - 2) : 0;
      used += g->blocks[b].successor_count;
   }
   return g->successors != NULL;
}

/* Dominators ------------------------------------------------------------------------------------------------------------ */

/* The edges of the graph, with the end as a node, and the same edges reversed. */
static bool list_edges(const struct text_graph *g, struct edges *forward, struct edges *back) {
   const uint32_t nodes = g->block_count + 1;
   uint32_t count = 0;
   for (uint32_t b = 0; b < g->block_count; b++)
      count += g->blocks[b].successor_count;
   forward->first = calloc(nodes + 1, sizeof *forward->first);
   forward->to = calloc(count + 1, sizeof *forward->to);
   back->first = calloc(nodes + 2, sizeof *back->first);
   back->to = calloc(count + 1, sizeof *back->to);
   if (!forward->first || !forward->to || !back->first || !back->to)
      return false;
   count = 0;
   for (uint32_t b = 0; b < g->block_count; b++) {
      forward->first[b] = count;
      for (uint32_t k = 0; k < g->blocks[b].successor_count; k++) {
         forward->to[count] = g->successors[g->blocks[b].successor + k];
         back->first[forward->to[count++] + 2]++;
      }
   }
   forward->first[g->block_count] = forward->first[nodes] = count;
   for (uint32_t n = 0; n < nodes; n++)
      back->first[n + 2] += back->first[n + 1];
   for (uint32_t b = 0; b < g->block_count; b++)
      for (uint32_t k = forward->first[b]; k < forward->first[b + 1]; k++)
         back->to[back->first[forward->to[k] + 1]++] = b;
   return true;
}

static void free_edges(struct edges *edges) {
   free(edges->first);
   free(edges->to);
}

/* Numbers nodes in post-order from the root on; PTX_NONE: not reached.  Returns how many. */
static uint32_t number_nodes(const struct edges *edges, uint32_t nodes, uint32_t root, uint32_t *number,
                             uint32_t *order, uint32_t *stack) {
   uint32_t *next = stack + nodes, top = 0, count = 0;
   for (uint32_t n = 0; n < nodes; n++) {
      number[n] = PTX_NONE;
      next[n] = PTX_NONE; /* not seen */
   }
   stack[top++] = root;
   next[root] = edges->first[root];
   while (top) {
      const uint32_t node = stack[top - 1];
      if (next[node] == edges->first[node + 1]) {
         number[node] = count;
         order[count++] = node;
         top--;
         continue;
      }
      const uint32_t to = edges->to[next[node]++];
      if (next[to] == PTX_NONE) {
         next[to] = edges->first[to];
         stack[top++] = to;
      }
   }
   return count;
}

/* The immediate dominator of each node; PTX_NONE: not reached from the root. */
static bool find_dominators(const struct edges *edges, const struct edges *back, uint32_t nodes,
                            uint32_t root, uint32_t *dominator) {
   uint32_t *memory = calloc(4 * (size_t)nodes, sizeof *memory);
   if (!memory)
      return false;
   uint32_t *number = memory, *order = memory + nodes;
   const uint32_t count = number_nodes(edges, nodes, root, number, order, memory + 2 * (size_t)nodes);
   bool changed = true;
   for (uint32_t n = 0; n < nodes; n++)
      dominator[n] = PTX_NONE;
   dominator[root] = root;
   while (changed) {
      changed = false;
      for (uint32_t n = count - 1; n-- > 0;) {
         const uint32_t node = order[n];
         uint32_t common = PTX_NONE;
         for (uint32_t k = back->first[node]; k < back->first[node + 1]; k++) {
            uint32_t other = back->to[k];
            if (dominator[other] == PTX_NONE)
               continue;
            if (common == PTX_NONE)
               common = other;
            while (other != common) {
               if (number[other] < number[common])
                  other = dominator[other];
               else
                  common = dominator[common];
            }
         }
         changed |= dominator[node] != common;
         dominator[node] = common;
      }
   }
   free(memory);
   return true;
}

/* Loops ------------------------------------------------------------------------------------------------------------------ */

static bool dominates(const uint32_t *dominator, uint32_t above, uint32_t below) {
   while (below != above && dominator[below] != PTX_NONE && dominator[below] != below)
      below = dominator[below];
   return below == above;
}

static struct text_loop *loop_of(struct text_graph *g, uint32_t header) {
   for (uint32_t n = 0; n < g->loop_count; n++)
      if (g->loops[n].header == header)
         return &g->loops[n];
   struct text_loop *larger = (uint64_t)(g->loop_count + 1) * g->block_count <= MOST_HELD
                                 ? realloc(g->loops, (g->loop_count + 1) * sizeof *larger)
                                 : NULL;
   if (!larger)
      return NULL;
   g->loops = larger;
   larger += g->loop_count;
   *larger = (struct text_loop){.header = header, .size = 1, .holds = calloc(g->block_count + 1, 1)};
   if (!larger->holds)
      return NULL;
   larger->holds[header] = true;
   g->loop_count++;
   return larger;
}

/* Adds to the loop all blocks that lead to this one without its header. */
static void fill_loop(struct text_loop *loop, const struct edges *back, uint32_t from, uint32_t *stack) {
   uint32_t top = 0;
   if (!loop->holds[from])
      stack[top++] = from;
   while (top) {
      const uint32_t block = stack[--top];
      if (loop->holds[block])
         continue;
      loop->holds[block] = true;
      loop->size++;
      for (uint32_t k = back->first[block]; k < back->first[block + 1]; k++)
         if (!loop->holds[back->to[k]])
            stack[top++] = back->to[k];
   }
}

static bool find_loops(struct text_graph *g, const struct edges *forward, const struct edges *back,
                       const uint32_t *dominator) {
   uint32_t *stack = calloc(forward->first[g->block_count] + g->block_count + 1, sizeof *stack);
   bool done = stack != NULL;
   for (uint32_t b = 0; b < g->block_count && done; b++)
      for (uint32_t k = forward->first[b]; k < forward->first[b + 1] && done; k++)
         if (dominator[b] != PTX_NONE && forward->to[k] < g->block_count &&
             dominates(dominator, forward->to[k], b)) {
            struct text_loop *loop = loop_of(g, forward->to[k]);
            done = loop != NULL;
            if (done)
               fill_loop(loop, back, b, stack);
         }
   for (uint32_t b = 0; b < g->block_count; b++) {
      g->blocks[b].loop = PTX_NONE;
      for (uint32_t n = 0; n < g->loop_count; n++)
         if (g->loops[n].holds[b] &&
             (g->blocks[b].loop == PTX_NONE || g->loops[n].size < g->loops[g->blocks[b].loop].size))
            g->blocks[b].loop = n;
   }
   free(stack);
   return done;
}

static bool relate(struct text_graph *g) {
   const uint32_t nodes = g->block_count + 1;
   struct edges forward = {NULL, NULL}, back = {NULL, NULL};
   uint32_t *dominator = calloc(nodes, sizeof *dominator);
   bool done = dominator && list_edges(g, &forward, &back) &&
               find_dominators(&back, &forward, nodes, g->block_count, dominator);
   for (uint32_t b = 0; b < g->block_count && done; b++) /* a loop without an end leads nowhere */
      g->blocks[b].meets = dominator[b] == PTX_NONE ? g->block_count : dominator[b];
   done = done && find_dominators(&forward, &back, nodes, 0, dominator) &&
          find_loops(g, &forward, &back, dominator);
   free_edges(&forward);
   free_edges(&back);
   free(dominator);
   return done;
}

struct text_graph *machine_text_graph_new(const ptx_function_t *function) {
   struct text_graph *g = calloc(1, sizeof *g);
   if (g && make_blocks(g, function) && connect(g, function) && relate(g))
      return g;
   machine_text_graph_free(g);
   return NULL;
}

void machine_text_graph_free(struct text_graph *g) {
   if (!g)
      return;
   for (uint32_t n = 0; n < g->loop_count; n++)
      free(g->loops[n].holds);
   free(g->loops);
   free(g->blocks);
   free(g->successors);
   free(g->block_of);
   free(g);
}
