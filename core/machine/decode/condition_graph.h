/* The basic blocks of a function's text: which blocks may follow each block, where the ways from a block meet again, and which loops a block is
 * in. */
#ifndef RKB_MACHINE_DECODE_CONDITION_GRAPH_H
#define RKB_MACHINE_DECODE_CONDITION_GRAPH_H

#include "machine/ptx/module.h"

struct text_block {
   uint32_t first, end;                 /* statements */
   uint32_t successor, successor_count; /* into the graph's list */
   uint32_t meets; /* the first block that every way from here reaches; block_count: the end */
   uint32_t loop;  /* the smallest loop around it; PTX_NONE: none */
};

struct text_loop {
   uint32_t header, size;
   bool *holds; /* by block */
};

struct text_graph {
   struct text_block *blocks;
   uint32_t block_count;
   uint32_t *successors;
   uint32_t *block_of; /* by statement */
   struct text_loop *loops;
   uint32_t loop_count;
};

/* NULL: the text has too many blocks, or memory ran out. */
struct text_graph *machine_text_graph_new(const ptx_function_t *function);
void machine_text_graph_free(struct text_graph *graph);

#endif
